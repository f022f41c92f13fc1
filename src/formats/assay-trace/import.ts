import type { Report } from '../../model/index.js'
import type { Input } from '../format.js'
import { flatMapped, mapped } from '../iterate.js'
import { textChunks } from '../text-chunks.js'
import type { Episode } from './events.js'
import { messagesIn, type MessageBatch } from './message-batch.js'
import type { TranscriptMessage } from './message.js'
import { orderedMessages } from './ordered.js'
import type { Profile } from './profile.js'
import { Irregular, type TranscriptSource } from './source.js'
import { Surveyor, survey } from './survey.js'
import { traceLines } from './trace-lines.js'

export interface ImportOptions {
  readonly source: TranscriptSource
  readonly input: Input
  readonly episode: Episode
  /** @default documented */
  readonly profile?: Profile
  /**
   * Time of a transcript without times, in milliseconds since the epoch.
   *
   * @default 0
   */
  readonly fallbackTime?: number
  /**
   * The input is certainly a transcript, even when nothing in it is understood.
   *
   * @default false
   */
  readonly isKnown?: boolean
  /**
   * The messages of a file of lines, if another thread reads them (`readMessageBatches`). Throws `Irregular` where the
   * input must be read here.
   */
  readonly batches?: (() => AsyncIterable<MessageBatch>) | undefined
  /** Receives skipped items and oddities. */
  readonly report: Report
}

/** A transcript converted to Trace V2. */
export interface ImportedTranscript {
  /** Number of messages read so far. */
  readonly messages: () => number
  /** The trace; can be consumed once. */
  readonly trace: AsyncIterable<Uint8Array>
  /** Number of events so far. */
  readonly events: () => number
  /** Names of the tools called in the trace so far. */
  readonly tools: () => ReadonlySet<string>
}

/** See `importTranscript`. */
export async function importFrom(options: ImportOptions): Promise<ImportedTranscript> {
  const { source, input, profile = 'documented', isKnown, report } = options
  const note = (message: string): void => report({ severity: 'warning', code: 'import', message })
  const found = await survey(source, input, profile, note, isKnown)
  const tools = new Set<string>()
  const messages = orderedMessages(source, input, found, profile)
  return traceOf(traceLines({ ...options, found, tools, note }, messages), () => found.count, tools)
}

/**
 * As `importFrom` in one pass, for a regular file of lines: in order and without violations.
 *
 * @returns a trace that throws `Irregular` for any other file; its reports are then void, `importFrom` repeats them
 */
export function importAtOnce(options: ImportOptions): ImportedTranscript {
  const { source, input, batches, profile = 'documented', report } = options
  const note = (message: string): void => report({ severity: 'warning', code: 'import', message })
  const surveyor = new Surveyor(profile, note)
  const found = surveyor.survey
  let isFirst = true
  let isTimed = false

  function check(): void {
    if (isFirst) isTimed = found.first !== undefined
    isFirst = false
    const isLate = !isTimed && found.first !== undefined
    if (isLate || !found.isSorted || surveyor.isRefused !== 'no') throw new Irregular()
  }
  function* taken(batch: MessageBatch): Generator<TranscriptMessage> {
    for (const { message, number } of messagesIn(batch)) {
      surveyor.takeRead(message, number)
      check()
      yield message
    }
  }
  const end = (): [] => {
    surveyor.finish(profile === 'strict')
    return []
  }
  const messages = batches
    ? flatMapped(batches(), taken, end)
    : flatMapped(
        source.items(input.bytes(), { checked: false, note }),
        (item) => {
          const found = surveyor.take(item)
          check()
          return found
        },
        end,
      )
  const tools = new Set<string>()
  return traceOf(traceLines({ ...options, found, tools, note }, messages), () => found.count, tools)
}

function traceOf(
  lines: AsyncIterable<string>,
  messages: () => number,
  tools: ReadonlySet<string>,
): ImportedTranscript {
  let events = 0
  const counted = mapped(lines, (line) => {
    events += 1
    return line
  })
  return { messages, trace: textChunks(counted), events: () => events, tools: () => tools }
}
