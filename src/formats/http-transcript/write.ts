import type { HttpRecord, MessageRecord, Part, Report, TapeRecord } from '../../model/index.js'
import { adopt } from '../adopt.js'
import { createLosses } from '../losses.js'
import type { Recording } from '../format.js'
import { createClock } from './clock.js'
import {
  contextText,
  entryText,
  headersText,
  isMessageEvent,
  slotOf,
  slotText,
  type Slot,
  type TranscriptTransport,
} from './entry.js'
import { factsOf, type Facts } from './facts.js'
import { httpEntry, saysNothing } from './http-entry.js'
import { headerOf } from './headers.js'
import { jsonRefusal } from './json-rules.js'
import { readLoosely, readMessage } from './message-rules.js'
import { createOpenIds, type OpenIds } from './open-ids.js'

/** Characters per chunk. */
const textAtOnce = 1 << 16
/** Number of objects and arrays around a message: the document, `entries`, the entry, and `sse`. */
const outerDepth: Readonly<Record<Slot, number>> = { request: 3, response: 3, sse: 4 }

export interface TranscriptOptions {
  /** For readers of the documented profile, ignoring the rules of stricter ones. @default false */
  readonly isLoose?: boolean
}

/** A recording as one JSON document, one entry per line. Each message is included as its exact text. */
export async function* writeTranscript(
  transport: TranscriptTransport,
  recording: Recording,
  report: Report,
  { isLoose = false }: TranscriptOptions = {},
): AsyncIterable<Uint8Array> {
  const utf8 = new TextEncoder()
  const facts = await factsOf(recording)
  checkTransport(transport, facts, report)
  const headers = headersText(facts.headers)
  let text = `{\n  "transport": "${transport}",\n`
  if (headers !== undefined) text += `  "transport_context": {"headers":${headers}},\n`
  text += '  "entries": ['
  let separator = '\n'
  const own = adopt(recording, { links: false })
  for await (const entry of entriesOf(transport, own, { facts, report, isLoose })) {
    text += `${separator}    ${entry}`
    separator = ',\n'
    if (text.length < textAtOnce) continue
    yield utf8.encode(text)
    text = ''
  }
  yield utf8.encode(`${text}${separator === '\n' ? '' : '\n  '}]\n}\n`)
}

async function* entriesOf(
  transport: TranscriptTransport,
  recording: Recording,
  { facts, report, isLoose }: { readonly facts: Facts; readonly report: Report; readonly isLoose: boolean },
): AsyncGenerator<string, void, undefined> {
  const clock = createClock()
  const openIds = createOpenIds()
  const losses = createLosses(report)
  let count = 0
  for await (const record of recording.records()) {
    const timestampMs = clock(timeOf(record))
    if (record.type === 'message') {
      const slot = slotOf(record, transport)
      const { http, direction } = record
      const context = contextText(http, direction, lastEventIdOf(http, facts))
      for (const [i, part] of record.parts.entries()) {
        const reason = refusalOf(record, part, slot, { facts, openIds, isLoose })
        if (reason === undefined) {
          if (record.batch && i === 0) losses.add('batches are written message by message')
          yield entryText({ timestampMs, context }, slot, slotText(slot, record, part))
        } else {
          const message = `message ${(record.seq ?? count) + i} is left out: ${reason}`
          report({ severity: 'warning', code: 'left-out', message })
        }
      }
      count += record.parts.length
      losses.marks(record)
      losses.links(record)
      losses.conversation(record)
      losses.micros(record)
      if (record.untimed) losses.times(record, undefined)
      if (http) losses.add('URLs and most HTTP headers are left out')
      continue
    }
    const entry =
      record.type === 'http'
        ? httpEntry(record, timestampMs, lastEventIdOf(record, facts), (message) =>
            report({ severity: 'warning', code: 'stand-in', message }),
          )
        : undefined
    if (entry !== undefined) yield entry
    else if (record.type !== 'http' || !saysNothing(record)) losses.record(record)
  }
  losses.tell()
}

/** Reason to omit a message: a reader would refuse the whole file, or misinterpret other messages. */
function refusalOf(
  record: MessageRecord,
  part: Part,
  slot: Slot,
  {
    facts,
    openIds,
    isLoose,
  }: { readonly facts: Facts; readonly openIds: OpenIds; readonly isLoose: boolean },
): string | undefined {
  if (slot === 'sse' && !isMessageEvent(record.sse)) return undefined
  const text = record.raw.slice(part.start, part.end)
  const refusal = jsonRefusal(text, outerDepth[slot], isLoose)
  const reading = refusal === undefined ? (isLoose ? readLoosely : readMessage)(text) : { refusal }
  if (
    'kind' in reading &&
    reading.kind === 'request' &&
    facts.resent.has(record.http?.exchange, reading.id!)
  ) {
    return 'the server rejected its HTTP request, and the client sent it again'
  }
  return openIds.refusal(record, part, reading)
}

function checkTransport(transport: TranscriptTransport, facts: Facts, report: Report): void {
  const said = facts.transport === 'sse' ? 'http-sse' : facts.transport
  if (said === undefined || said === transport) return
  const message = `the ${said} recording is written as ${transport}`
  report({ severity: 'warning', code: 'other-transport', message })
}

/** In transcripts, headers of the response have it; in recordings, those of the request. */
function lastEventIdOf(
  http: Pick<HttpRecord, 'exchange' | 'headers'> | undefined,
  facts: Facts,
): string | undefined {
  return http && (headerOf(http.headers, 'Last-Event-ID') ?? facts.lastEventIds.get(http.exchange))
}

function timeOf(record: TapeRecord): string | undefined {
  if (record.type === 'unknown') return undefined
  return record.type === 'meta' ? record.startedAt : record.t
}
