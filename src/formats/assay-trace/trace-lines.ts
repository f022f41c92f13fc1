import { flatMapped } from '../iterate.js'
import { episodeEnd, episodeStart, step, toolCall, type Episode, type ToolCall } from './events.js'
import type { TranscriptMessage } from './message.js'
import type { Stamp } from './meaning.js'
import type { Profile } from './profile.js'
import type { Survey } from './survey.js'

/** Orphans remembered, to explain them later. */
const mostOrphans = 1000

interface Pending {
  readonly index: number
  readonly timestamp: Stamp
  readonly tool: string
  readonly args: string
}

/** How to write a trace. */
export interface TraceOptions {
  readonly episode: Episode
  readonly profile?: Profile
  readonly fallbackTime?: number
  /** May grow while messages arrive; its data for the start is complete at the first message. */
  readonly found: Survey
  /** Takes the names of called tools. */
  readonly tools: Set<string>
  readonly note: (message: string) => void
}

/** The lines of a Trace V2 episode. */
export function traceLines(
  options: TraceOptions,
  messages: AsyncIterable<TranscriptMessage>,
): AsyncIterable<string> {
  const lines = new TraceLines(options)
  return flatMapped(
    messages,
    (message) => lines.take(message),
    () => lines.end(),
  )
}

class TraceLines {
  readonly #options: TraceOptions
  readonly #pending = new Map<string, Pending>()
  /** Calls whose id was reused by another call. */
  readonly #unanswered: Pending[] = []
  /** Open requests of other methods. */
  readonly #others = new Set<string>()
  /** Earlier responses without a request, and their times. */
  readonly #orphans = new Map<string, Stamp | undefined>()
  /** Open requests of the server, which has its own ids; with their methods, if recognizable. */
  readonly #servers = new Map<string, string | undefined>()
  /** Undefined before the first line. */
  #now: Stamp | undefined
  #steps = 0
  #finalOutput: TranscriptMessage | undefined
  readonly #passed = { messages: 0, answers: 0, empty: 0 }

  constructor(options: TraceOptions) {
    this.#options = options
  }

  *take(message: TranscriptMessage): Generator<string> {
    const { meaning, key, stamp } = message
    const before = this.#now ?? (yield* this.#begin())
    const timestamp = stamp !== undefined && stamp > before ? stamp : before
    this.#now = timestamp
    if (meaning === 'none') this.#passed.empty += 1
    else if (meaning === 'notification' || meaning === 'other-request') this.#passOver(message)
    else if (meaning === 'list') {
      yield this.#step(timestamp, 'tools/list', '{}')
      if (key !== undefined) this.#others.add(key)
    } else if (meaning === 'tools') {
      this.#noteTools(message)
      yield this.#step(timestamp, 'tools/list.result', message.toolList())
    } else if (meaning === 'call') yield* this.#takeCall(message, timestamp)
    else yield* this.#takeAnswer(message, timestamp)
  }

  *end(): Generator<string> {
    const { episode, found, fallbackTime = 0, note } = this.#options
    const timestamp = yield* this.#begin()
    // In the order of the requests.
    for (const request of [...this.#unanswered, ...this.#pending.values()]) {
      const outcome = { timestamp: request.timestamp, result: 'null', error: 'timeout/no_response' }
      yield this.#call(request, outcome)
    }
    const last = found.last ?? timestamp
    yield episodeEnd(episode, last, this.#finalOutput ? this.#finalOutput.payload() : null)
    if (found.first === undefined && found.count > 0) {
      const date = new Date(fallbackTime).toISOString()
      note(`no message has a time: the timestamp of every event is ${fallbackTime} (${date})`)
    }
    tellPassedOver(found.passedOver, this.#passed, note)
  }

  *#begin(): Generator<string, Stamp> {
    if (this.#now !== undefined) return this.#now
    const { episode, found, fallbackTime = 0 } = this.#options
    const now = found.first ?? fallbackTime
    this.#now = now
    yield episodeStart(episode, now, found.discovery)
    return now
  }

  #step(timestamp: Stamp, name: string, content: string | null, meta = '{}'): string {
    return step(this.#options.episode, { index: this.#steps++, timestamp, name, content, meta })
  }

  #call(of: Pending, outcome: Pick<ToolCall, 'timestamp' | 'result' | 'error'>): string {
    const { index, tool, args } = of
    return toolCall(this.#options.episode, { index, tool, args, ...outcome })
  }

  #nameOf({ key, id }: TranscriptMessage): string | undefined {
    return this.#options.profile === 'strict' ? key : JSON.stringify(id)
  }

  #passOver(message: TranscriptMessage): void {
    const { key, meaning, side, serversMethod } = message
    this.#passed.messages += 1
    if (key === undefined || meaning !== 'other-request') return
    this.#others.add(key)
    if (side === undefined ? serversMethod !== undefined : side === 'server')
      this.#servers.set(key, serversMethod)
  }

  #noteTools(message: TranscriptMessage): void {
    const { key } = message
    if (key === undefined) return
    this.#others.delete(key)
    if (!this.#pending.has(key)) return
    const name = `the result of tools/call ${this.#nameOf(message)}`
    this.#options.note(`${name} has a "tools" member and counts as a list of tools`)
  }

  *#takeCall(message: TranscriptMessage, timestamp: Stamp): Generator<string> {
    const { id, key, tool } = message
    this.#options.tools.add(tool)
    const index = this.#steps
    yield this.#step(timestamp, tool, null, `{"jsonrpc_id":${JSON.stringify(id ?? null)}}`)
    const request: Pending = { index, timestamp, tool, args: message.payload() }
    if (key === undefined) {
      yield this.#call(request, { timestamp, result: 'null', error: null })
      return
    }
    // After sorting by time, a call may precede the response to the previous call.
    const before = this.#pending.get(key)
    if (before) this.#unanswered.push(before)
    this.#pending.set(key, request)
    if (this.#orphans.has(key)) {
      const stamp = this.#orphans.get(key)
      const why = stamp === undefined ? 'has no time and sorts first' : `has the earlier time ${stamp}`
      const asked = message.stamp === undefined ? '' : ` at ${message.stamp}`
      const name = `tools/call ${this.#nameOf(message)}${asked}`
      this.#options.note(`${name} is not matched: the response with its id ${why}`)
    }
  }

  *#takeAnswer(message: TranscriptMessage, timestamp: Stamp): Generator<string> {
    const { episode, note } = this.#options
    const { key, meaning, side } = message
    this.#finalOutput = message
    if (this.#isClients(message) && this.#servers.delete(key!)) {
      // The client's response to a request of the server, although a call is open under the same id.
      this.#others.delete(key!)
      this.#passed.answers += 1
      return
    }
    const request = key === undefined ? undefined : this.#pending.get(key)
    if (request) {
      this.#pending.delete(key!)
      if (side === undefined && this.#others.has(key!)) {
        const shared = `two open requests share the id ${this.#nameOf(message)}`
        note(`${shared}: the first response counts as that of the tools/call`)
      }
      const payload = message.payload()
      const isError = meaning === 'error'
      const result = isError ? `{"error":${payload}}` : payload
      yield this.#call(request, { timestamp, result, error: isError ? 'mcp_error' : null })
    } else if (key === undefined || this.#others.delete(key)) this.#passed.answers += 1
    else {
      const names = `jsonrpc_id ${this.#nameOf(message)} in episode ${episode.id}`
      note(`orphan ToolCallResponse with ${names}`)
      if (this.#orphans.size < mostOrphans) this.#orphans.set(key, message.stamp)
    }
  }

  /** Whether a response comes from the client. Without a known sender, the shape of the message decides. */
  #isClients({ key, side, serversMethod }: TranscriptMessage): boolean {
    if (key === undefined) return false
    return (
      side === 'client' ||
      (side === undefined && serversMethod !== undefined && this.#servers.get(key) === serversMethod)
    )
  }
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
