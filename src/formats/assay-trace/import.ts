import type { Report } from '../../model/index.js'
import type { Input } from '../format.js'
import { flatMapped, mapped } from '../iterate.js'
import { textChunks } from '../text-chunks.js'
import { episodeEnd, episodeStart, step, toolCall, type Episode, type ToolCall } from './events.js'
import type { TranscriptMessage } from './message.js'
import type { Stamp } from './meaning.js'
import { orderedMessages } from './ordered.js'
import type { Profile } from './profile.js'
import type { TranscriptSource } from './source.js'
import { createSurveyor, survey, type Survey } from './survey.js'

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
  return traceOf(traceLines(options, found, messages, tools, note), () => found.count, tools)
}

/**
 * As `importFrom` in one pass, for a regular file of lines: in order and without violations.
 *
 * @returns a trace that throws `Irregular` for any other file; its reports are then void, `importFrom` repeats them
 */
export function importAtOnce(options: ImportOptions): ImportedTranscript {
  const { source, input, profile = 'documented', report } = options
  const note = (message: string): void => report({ severity: 'warning', code: 'import', message })
  const surveyor = createSurveyor(profile, note)
  const found = surveyor.survey
  let isFirst = true
  let isTimed = false

  const messages = flatMapped(
    source.items(input.bytes(), { checked: false, note }),
    (item) => {
      const taken = surveyor.take(item)
      if (isFirst) isTimed = found.first !== undefined
      isFirst = false
      const isLate = !isTimed && found.first !== undefined
      if (isLate || !found.isSorted || surveyor.isRefused !== 'no') throw new Irregular()
      return taken
    },
    () => {
      surveyor.finish(profile === 'strict')
      return []
    },
  )
  const tools = new Set<string>()
  return traceOf(traceLines(options, found, messages, tools, note), () => found.count, tools)
}

/** A transcript that needs more than one pass. */
export class Irregular extends Error {}

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

/** Orphans remembered, to explain them later. */
const mostOrphans = 1000

interface Pending {
  readonly index: number
  readonly timestamp: Stamp
  readonly tool: string
  readonly args: string
}

/** @param found may grow while messages arrive; its data for the start is complete at the first message */
function traceLines(
  { episode, profile = 'documented', fallbackTime = 0 }: ImportOptions,
  found: Survey,
  messages: AsyncIterable<TranscriptMessage>,
  tools: Set<string>,
  note: (message: string) => void,
): AsyncIterable<string> {
  const pending = new Map<string, Pending>()
  /** Calls whose id was reused by another call. */
  const unanswered: Pending[] = []
  /** Open requests of other methods. */
  const others = new Set<string>()
  /** Earlier responses without a request, and their times. */
  const orphans = new Map<string, Stamp | undefined>()
  /** Open requests of the server, which has its own ids; with their methods, if recognizable. */
  const servers = new Map<string, string | undefined>()
  /** Undefined before the first line. */
  let now: Stamp | undefined
  let steps = 0
  let finalOutput: TranscriptMessage | undefined
  const passed = { messages: 0, answers: 0, empty: 0 }
  const nameOf = ({ key, id }: TranscriptMessage): string | undefined =>
    profile === 'strict' ? key : JSON.stringify(id)
  const call = (of: Pending, outcome: Pick<ToolCall, 'timestamp' | 'result' | 'error'>): string =>
    toolCall(episode, { index: of.index, tool: of.tool, args: of.args, ...outcome })

  function* begin(): Generator<string, Stamp> {
    if (now !== undefined) return now
    now = found.first ?? fallbackTime
    yield episodeStart(episode, now, found.discovery)
    return now
  }

  function* take(message: TranscriptMessage): Generator<string> {
    const { meaning, key, stamp } = message
    const before = now ?? (yield* begin())
    const timestamp = stamp !== undefined && stamp > before ? stamp : before
    now = timestamp
    if (meaning === 'none') passed.empty += 1
    else if (meaning === 'notification' || meaning === 'other-request') {
      passed.messages += 1
      if (key !== undefined && meaning === 'other-request') {
        others.add(key)
        const { side, serversMethod } = message
        if (side === undefined ? serversMethod !== undefined : side === 'server')
          servers.set(key, serversMethod)
      }
    } else if (meaning === 'list') {
      yield step(episode, { index: steps++, timestamp, name: 'tools/list', content: '{}', meta: '{}' })
      if (key !== undefined) others.add(key)
    } else if (meaning === 'tools') {
      if (key !== undefined) {
        others.delete(key)
        if (pending.has(key)) {
          note(
            `the result of tools/call ${nameOf(message)} has a "tools" member and counts as a list of tools`,
          )
        }
      }
      const content = message.toolList()
      yield step(episode, { index: steps++, timestamp, name: 'tools/list.result', content, meta: '{}' })
    } else if (meaning === 'call') yield* takeCall(message, timestamp)
    else yield* takeAnswer(message, timestamp)
  }

  function* takeCall(message: TranscriptMessage, timestamp: Stamp): Generator<string> {
    const { id, key, tool } = message
    tools.add(tool)
    const index = steps++
    const meta = `{"jsonrpc_id":${JSON.stringify(id ?? null)}}`
    yield step(episode, { index, timestamp, name: tool, content: null, meta })
    const request: Pending = { index, timestamp, tool, args: message.payload() }
    if (key === undefined) yield call(request, { timestamp, result: 'null', error: null })
    else {
      // After sorting by time, a call may precede the response to the previous call.
      const before = pending.get(key)
      if (before) unanswered.push(before)
      pending.set(key, request)
    }
    if (key !== undefined && orphans.has(key)) {
      const stamp = orphans.get(key)
      const why = stamp === undefined ? 'has no time and sorts first' : `has the earlier time ${stamp}`
      const asked = message.stamp === undefined ? '' : ` at ${message.stamp}`
      note(`tools/call ${nameOf(message)}${asked} is not matched: the response with its id ${why}`)
    }
  }

  function* takeAnswer(message: TranscriptMessage, timestamp: Stamp): Generator<string> {
    const { key, meaning, side, serversMethod } = message
    finalOutput = message
    // Without a known sender, the shape of the message decides.
    const isClients =
      side === 'client' ||
      (side === undefined && serversMethod !== undefined && servers.get(key ?? '') === serversMethod)
    if (key !== undefined && isClients && servers.delete(key)) {
      // The client's response to a request of the server, although a call is open under the same id.
      others.delete(key)
      passed.answers += 1
      return
    }
    const request = key === undefined ? undefined : pending.get(key)
    if (request) {
      pending.delete(key!)
      if (side === undefined && others.has(key!)) {
        note(
          `two open requests share the id ${nameOf(message)}: the first response counts as that of the tools/call`,
        )
      }
      const payload = message.payload()
      const isError = meaning === 'error'
      const result = isError ? `{"error":${payload}}` : payload
      yield call(request, { timestamp, result, error: isError ? 'mcp_error' : null })
    } else if (key === undefined || others.delete(key)) passed.answers += 1
    else {
      const names = `jsonrpc_id ${nameOf(message)} in episode ${episode.id}`
      note(`orphan ToolCallResponse with ${names}`)
      if (orphans.size < mostOrphans) orphans.set(key, message.stamp)
    }
  }

  function* end(): Generator<string> {
    const timestamp = yield* begin()
    // In the order of the requests.
    for (const request of [...unanswered, ...pending.values()]) {
      yield call(request, { timestamp: request.timestamp, result: 'null', error: 'timeout/no_response' })
    }
    const last = found.last ?? timestamp
    yield episodeEnd(episode, last, finalOutput ? finalOutput.payload() : null)
    if (found.first === undefined && found.count > 0) {
      const date = new Date(fallbackTime).toISOString()
      note(`no message has a time: the timestamp of every event is ${fallbackTime} (${date})`)
    }
    tellPassedOver(found.passedOver, passed, note)
  }

  return flatMapped(messages, take, end)
}

function tellPassedOver(
  passedOver: ReadonlyMap<string, number>,
  { messages, answers, empty }: Readonly<Record<'messages' | 'answers' | 'empty', number>>,
  note: (message: string) => void,
): void {
  const kinds = [...passedOver].map(([what, count]) => `${what} (${count})`)
  if (messages > 0) kinds.push(`requests and notifications of other methods (${messages})`)
  if (answers > 0) kinds.push(`responses to them (${answers})`)
  if (empty > 0) kinds.push(`objects that are neither requests nor responses (${empty})`)
  if (kinds.length > 0) note(`not about tools, so not in the trace: ${kinds.join(', ')}`)
}
