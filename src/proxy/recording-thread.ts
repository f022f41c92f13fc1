import { Worker } from 'node:worker_threads'
import type { OpenRequest, RuleCount } from '../model/index.js'
import type { TapeEnd } from '../tape/index.js'
import type { MirroredArgument } from '../wire/index.js'
import { channels, type Channel } from './channel.js'
import { buffersOf } from './chunk-batch.js'
import { regionsOf } from './http-batch.js'
import { OpenExchanges } from './open-exchanges.js'
import type { NamedSession, RecorderInit, RecorderMessage, RecordingReport } from './recorder-core.js'
import type { ChannelLoss } from './channel-loss.js'
import { createThreadState, isWorking, progressOf, tellWork } from './thread-state.js'

/**
 * Messages of the recording thread: `loaded` if it will have begun in a few milliseconds, `ready` when it has, then one
 * reply to each message, in order.
 */
export type RecorderReply =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'done'
      /** The memory of the message may be reused. */
      readonly free?: true
      readonly open?: readonly OpenRequest[]
      readonly tapeEnd?: TapeEnd
      /** Null for a tool that was never listed. */
      readonly toolHeaders?: readonly MirroredArgument[] | null
      /** Redactions per rule, when the counts changed. */
      readonly redacted?: readonly RuleCount[]
      /** HTTP sessions that were named since the last reply. */
      readonly sessions?: readonly NamedSession[]
      readonly trouble?: string
    }
  | { readonly kind: 'closed'; readonly report: RecordingReport }

export type Told = Extract<RecorderReply, { kind: 'done' }>

/** The part of a worker thread that is used here. */
export type RecorderWorker = Pick<Worker, 'postMessage' | 'on' | 'terminate'>

/** A message without a reply so far. */
export interface Queued {
  readonly message: RecorderMessage
  readonly sizeBytes: number
  /** Arrival of the oldest chunk in it. */
  readonly sinceMs: number
  readonly postedMs: number
}

export interface RecordingThreadOptions {
  readonly startWorker: (init: RecorderInit) => RecorderWorker
  /** The thread records what is posted now, at once or in a few milliseconds. Called once or twice for each thread. */
  onReady(): void
  /** @param beganMs earliest time at which the thread began with the message */
  onDone(reply: Told, queued: Queued, beganMs: number): void
  onClosed(report: RecordingReport): void
  /** The thread died and was replaced. @param lost the message it was processing, if any */
  onReplaced(words: string, lost: RecorderMessage | undefined): void
  /** The thread died and cannot be replaced. */
  onDead(why: string): void
}

/** HTTP sessions that a replacement thread learns about. */
const mostSessions = 10_000
/** Verdicts of the gate that may concern later frames. */
const mostVerdicts = 1_024
/** Threads in a row that may die before their first message. */
const mostStillborn = 2

/**
 * The recording thread, and its replacement when it dies. Messages that it had not begun are passed to the
 * replacement. The loss in the message it was processing is counted here and becomes the first record of a new
 * segment.
 */
export class RecordingThread {
  readonly state = createThreadState()
  readonly #init: RecorderInit
  readonly #options: RecordingThreadOptions
  readonly #exchanges = new OpenExchanges()
  readonly #queue: Queued[] = []
  /** Bytes of each channel that were ever posted, or reported as lost. */
  readonly #posted: Record<Channel, number> = { in: 0, out: 0, err: 0 }
  #worker: RecorderWorker
  #unansweredBytes = 0
  #lastProgressMs = performance.now()
  #begun = false
  #stillborn = 0
  #killedByClose = false
  #isOver = false
  #redacted: readonly RuleCount[] = []
  #sessions: NamedSession[] = []
  #verdicts: RecorderMessage[] = []

  constructor(init: RecorderInit, options: RecordingThreadOptions) {
    this.#init = { ...init, state: this.state }
    this.#options = options
    this.#worker = this.#start(this.#init)
  }

  /** Whether the thread has replied. */
  get begun(): boolean {
    return this.#begun
  }

  get lastProgressMs(): number {
    return this.#lastProgressMs
  }

  get unansweredBytes(): number {
    return this.#unansweredBytes
  }

  /** The message that is being processed. */
  get oldest(): Queued | undefined {
    return this.#queue[0]
  }

  get isWorking(): boolean {
    return isWorking(this.state)
  }

  /** @param sinceMs arrival of the oldest chunk in it */
  post(message: RecorderMessage, sizeBytes: number, sinceMs: number): void {
    if (this.#isOver) return
    // With an empty queue, no progress is expected.
    const nowMs = performance.now()
    if (this.#queue.length === 0) this.#lastProgressMs = nowMs
    for (const [channel, bytes] of bytesOf(message)) this.#posted[channel] += bytes
    if (message.kind === 'gate' && message.entry.kind === 'judge') this.#remember(message)
    this.#queue.push({ message, sizeBytes, sinceMs, postedMs: nowMs })
    this.#unansweredBytes += sizeBytes
    this.#worker.postMessage(message)
  }

  /** Restarts the wait for progress. */
  giveTime(): void {
    this.#lastProgressMs = performance.now()
  }

  /** Ends a thread without progress. It is replaced if a message keeps it busy, but not if the disk does. */
  giveUp(why: string): void {
    void this.#worker.terminate()
    if (this.isWorking) this.#failed(this.#worker, why)
    else this.#die(why)
  }

  #start(init: RecorderInit): RecorderWorker {
    const worker = this.#options.startWorker(init)
    worker.on('message', (reply: RecorderReply) => {
      if (worker === this.#worker && !this.#isOver) this.#heard(reply)
    })
    worker.on('error', (error: Error) =>
      this.#failed(worker, `the recording thread failed: ${error.message}`),
    )
    worker.on('exit', () => this.#failed(worker, 'the recording thread ended'))
    return worker
  }

  #heard(reply: RecorderReply): void {
    if (reply.kind === 'loaded') return this.#options.onReady()
    const beganMs = Math.max(this.#lastProgressMs, this.#queue[0]?.postedMs ?? 0)
    this.#lastProgressMs = performance.now()
    this.#begun = true
    this.#stillborn = 0
    if (reply.kind === 'ready') return this.#options.onReady()
    const queued = this.#queue.shift()
    this.#unansweredBytes -= queued?.sizeBytes ?? 0
    if (reply.kind === 'closed') {
      this.#isOver = true
      return this.#options.onClosed(reply.report)
    }
    if (!queued) return
    if (queued.message.kind === 'http') this.#exchanges.took(queued.message.batch)
    if (reply.redacted) this.#redacted = reply.redacted
    if (reply.sessions) this.#sessions = [...this.#sessions, ...reply.sessions].slice(-mostSessions)
    this.#options.onDone(reply, queued, beganMs)
  }

  #remember(verdict: RecorderMessage): void {
    this.#verdicts.push(verdict)
    if (this.#verdicts.length > 2 * mostVerdicts) this.#verdicts = this.#verdicts.slice(-mostVerdicts)
  }

  #failed(worker: RecorderWorker, why: string): void {
    if (worker !== this.#worker || this.#isOver) return
    const fatal = this.#begun ? this.#queue.shift() : undefined
    if (!this.#begun) this.#stillborn += 1
    const isLast = fatal?.message.kind === 'close'
    if (this.#stillborn >= mostStillborn || (isLast && this.#killedByClose)) return this.#die(why)
    this.#killedByClose ||= isLast
    const rest = this.#queue.splice(0)
    this.#unansweredBytes = 0
    const message = this.#lossOf(fatal?.message, rest, why)
    tellWork(this.state, false)
    this.#begun = false
    this.#lastProgressMs = performance.now()
    const { redacted, sessions } = { redacted: this.#redacted, sessions: this.#sessions }
    try {
      this.#worker = this.#start({
        ...this.#init,
        resume: { ...progressOf(this.state), redacted, sessions },
      })
    } catch {
      return this.#die(why)
    }
    const waits = new Set(rest.map((one) => one.message))
    const verdicts = this.#verdicts.filter((verdict) => !waits.has(verdict))
    const nowMs = performance.now()
    this.#again({ message, sizeBytes: 0, sinceMs: nowMs, postedMs: nowMs })
    for (const verdict of verdicts)
      this.#again({ message: verdict, sizeBytes: 0, sinceMs: nowMs, postedMs: nowMs })
    if (fatal && isLast) this.#again(fatal)
    for (const queued of rest) this.#again(queued)
    this.#options.onReplaced(wordsOf(message), fatal?.message)
  }

  /** Posts a message to a replacement thread. */
  #again(queued: Queued): void {
    this.#queue.push({ ...queued, postedMs: performance.now() })
    this.#unansweredBytes += queued.sizeBytes
    this.#worker.postMessage(queued.message)
  }

  #die(why: string): void {
    this.#isOver = true
    this.#queue.length = 0
    this.#unansweredBytes = 0
    this.#options.onDead(why)
  }

  /** @param fatal the message it was processing @param rest messages it had not begun */
  #lossOf(
    fatal: RecorderMessage | undefined,
    rest: readonly Queued[],
    why: string,
  ): Extract<RecorderMessage, { kind: 'died' }> {
    const { recorded } = progressOf(this.state)
    const waiting: Record<Channel, number> = { in: 0, out: 0, err: 0 }
    for (const { message } of rest) for (const [channel, bytes] of bytesOf(message)) waiting[channel] += bytes
    const losses: ChannelLoss[] = []
    for (const channel of channels) {
      const bytes = this.#posted[channel] - waiting[channel] - recorded[channel]
      if (bytes > 0) losses.push({ channel, bytes, ...linesOf(fatal, channel) })
    }
    const http = this.#exchanges.lost(fatal?.kind === 'http' ? fatal.batch : undefined)
    const ours = fatal?.kind === 'gate' && 'sent' in fatal.entry ? fatal.entry.sent : undefined
    return {
      kind: 'died',
      us: Number(process.hrtime.bigint() - this.#init.startedNs) / 1000,
      wallMs: Date.now(),
      why: `${why}; a new thread replaced it`,
      losses,
      messages: http.messages + (ours ? 1 : 0),
      bytes: http.bytes + (ours?.sizeBytes ?? 0),
      exchanges: this.#exchanges.all,
    }
  }
}

/** Bytes per channel in a message. */
function bytesOf(message: RecorderMessage): (readonly [Channel, number])[] {
  if (message.kind === 'lost') return [[message.channel, message.bytes]]
  if (message.kind !== 'chunks') return []
  return Object.entries(message.batch.regions).map(([channel, { length }]) => [channel as Channel, length])
}

/** The number of line ends of a channel in a message, and whether a line begins after it. */
function linesOf(
  message: RecorderMessage | undefined,
  channel: Channel,
): { lines: number; atLineStart: boolean } {
  if (message?.kind === 'lost' && message.channel === channel) {
    const { lines, atLineStart } = message
    return { lines, atLineStart }
  }
  const region = message?.kind === 'chunks' ? message.batch.regions[channel] : undefined
  if (!region) return { lines: 0, atLineStart: false }
  const bytes = Buffer.from(region.buffer, region.byteOffset, region.length)
  let lines = 0
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1
  return { lines, atLineStart: bytes.at(-1) === 0x0a }
}

/** A readable report of the loss. */
function wordsOf({ why, losses, messages, bytes }: Extract<RecorderMessage, { kind: 'died' }>): string {
  let lost = messages
  let stderr = 0
  let lostBytes = bytes
  for (const loss of losses) {
    const lines = loss.lines + (loss.atLineStart ? 0 : 1)
    if (loss.channel === 'err') stderr += lines
    else lost += lines
    lostBytes += loss.bytes
  }
  const parts = [
    `${lost} ${lost === 1 ? 'message' : 'messages'}`,
    ...(stderr > 0 ? [`${stderr} ${stderr === 1 ? 'line' : 'lines'} of stderr`] : []),
  ]
  return `${why}: ${parts.join(' and ')} (${lostBytes} bytes) are not on the tape, which continues in a new segment`
}

/** The memory of a processed message. */
export function memoryOf(message: RecorderMessage): readonly ArrayBufferLike[] {
  if (message.kind === 'chunks') return buffersOf(message.batch)
  return message.kind === 'http' ? regionsOf(message.batch) : []
}
