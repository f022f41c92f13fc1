import type { OpenRequest } from '../model/index.js'
import type { TapeEnd } from '../tape/index.js'
import type { Channel } from './channel.js'
import { BatchFiller } from './chunk-batch.js'
import type { HttpEvent, UnheardMessage } from '../transports/index.js'
import type { GateEntry, Ledger, ToolBook } from '../intercept/index.js'
import type { MirroredArgument } from '../wire/index.js'
import { HttpBatchFiller } from './http-batch.js'
import { Losses } from './losses.js'
import { memoryOf, RecordingThread, type Queued, type RecorderWorker, type Told } from './recording-thread.js'
import { RegionPool } from './region-pool.js'
import { EarlyThread } from './start-thread.js'
import { batchesInWindow, firstWindow, windowFor } from './window.js'
import type { RecorderInit, RecorderMessage, RecordingReport, SessionEnd } from './recorder-core.js'

/** Largest size of a batch in bytes. */
const batchBytes = 512 * 1024
/**
 * Chunks wait this long for others, so that the recording thread is not woken for each message. On two processors, a
 * batch may keep one message from its processor, so there should be few of them.
 */
const batchMs = 40
/** A pause of traffic for one batch ends after this time, unless senders must wait for another reason. */
const longestPauseMs = 5
/**
 * Nothing waits longer than this for the tape while senders continue. Forwarded data is then on disk within 100
 * ms, even when the recording thread gets little CPU time.
 */
const lagMs = 60
/** Smaller batches do not show the pace of the thread, and are not worth a pause of traffic. */
const notableBytes = firstWindow / 4
/** After this long without progress, traffic continues without the tape: the disk is stuck. */
const stallMs = 1_000
/** Senders wait this long for one huge message, which can take seconds on a busy machine. */
const workMs = 10_000
/** A starting thread gets more time: losing the first messages is worse than a slow start. */
const startMs = 10_000
/** At the end, a thread that is busy with one huge message is worth waiting for; one that hangs is not. */
const lastWordsMs = 10_000
/**
 * The forwarding side of a recording. Copies all traffic and hands it in batches to a separate thread. Never
 * waits and never throws. Traffic that cannot be recorded is counted and reported.
 */
export interface Recorder extends Ledger, ToolBook {
  /** Resolves when traffic may pass: it is recorded in time, or the thread has taken too long to start. Never rejects. */
  readonly ready: Promise<void>
  /** @param atMs arrival, by `performance.now()` @param wallMs the same in milliseconds since the epoch */
  bytes(channel: Channel, chunk: Uint8Array, atMs?: number, wallMs?: number): void
  ended(channel: Channel): void
  /** Records an event of an HTTP exchange. Its bytes are copied. */
  http(event: HttpEvent | UnheardMessage): void
  /** Only the first `deliveredBytes` of the channel reached the other side. */
  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string): void
  /** Requests without a response, as of all earlier calls. Never rejects. */
  openRequests(): Promise<readonly OpenRequest[]>
  /** Writes the queue and the last line. Resolves when the tape is on disk, or writing has failed. */
  close(end: SessionEnd): Promise<RecordingReport>
}

export interface RecorderOptions {
  /** Called with true when senders must wait, and with false when they may continue. */
  readonly onPressure: (wait: boolean) => void
  /** The tape has grown. @param end its current end, if known */
  readonly onRecorded?: (end: TapeEnd | undefined) => void
  /** A problem that the user should know at once. One line. */
  readonly onTrouble?: (line: string) => void
  /** Memory of batches. Chunks in it are not copied. @default memory of its own */
  readonly pool?: RegionPool
  /**
   * Whether senders wait, for up to 5 ms, while a batch of 16 kB or more is recorded that was collected for 40 ms. With
   * two processors, the thread otherwise takes a processor from client, server or forwarder, and several messages wait
   * instead of one. Senders do not wait if the batch before took longer than that, as on a slow disk, or if there was none.
   *
   * @default false
   */
  readonly pausesTraffic?: boolean
  /** Starts the recording thread. @default the real one */
  readonly startWorker?: (init: RecorderInit) => RecorderWorker
}

export function createRecorder(init: RecorderInit, options: RecorderOptions): Recorder {
  return new ThreadRecorder(init, options)
}

class ThreadRecorder implements Recorder {
  readonly ready: Promise<void>
  readonly #init: RecorderInit
  readonly #options: RecorderOptions
  readonly #thread: RecordingThread
  readonly #pool: RegionPool
  readonly #filler: BatchFiller
  readonly #httpFiller: HttpBatchFiller
  readonly #startedMs: number
  #isReady: () => void = () => undefined
  #flushTimer: NodeJS.Timeout | undefined
  /** Arrival of the oldest chunk in the current batch. */
  #pendingSinceMs = 0
  /** Bytes that may be queued at the current pace. */
  #windowBytes = firstWindow
  #waiting = false
  /** Milliseconds that the last notable batch took; Infinity before the first. */
  #batchTookMs = Infinity
  #pauseTimer: NodeJS.Timeout | undefined
  #stallTimer: NodeJS.Timeout | undefined
  #seenWorkingMs = 0
  /** Defined while traffic continues without the tape. */
  #losses: Losses | undefined
  #died: string | undefined
  #closed: { resolve(report: RecordingReport): void; timer: NodeJS.Timeout } | undefined
  /** Callers that wait for a reply, in order. If the thread dies, they get none. */
  readonly #asking: ((answer?: Told) => void)[] = []

  constructor(init: RecorderInit, options: RecorderOptions) {
    this.#init = init
    this.#options = options
    this.#pool = options.pool ?? new RegionPool()
    this.#filler = new BatchFiller(this.#pool)
    this.#httpFiller = new HttpBatchFiller(this.#pool)
    this.#thread = new RecordingThread(init, {
      startWorker: options.startWorker ?? new EarlyThread().begin,
      onReady: () => this.#begin(),
      onDone: (reply, queued, beganMs) => this.#done(reply, queued, beganMs),
      onClosed: (report) => {
        this.#finish(report)
        options.onRecorded?.(undefined)
      },
      onReplaced: (words, lost) => this.#replaced(words, lost),
      onDead: (why) => this.#die(why),
    })
    this.#startedMs = performance.now() - Number(process.hrtime.bigint() - init.startedNs) / 1e6
    this.ready = new Promise<void>((resolve) => {
      const patience = setTimeout(resolve, startMs)
      this.#isReady = () => {
        clearTimeout(patience)
        resolve()
      }
    })
  }

  bytes(channel: Channel, chunk: Uint8Array, atMs = performance.now(), wallMs = Date.now()): void {
    if (this.#losses) return this.#losses.addChunk(channel, chunk)
    const filler = this.#filler
    if (!filler.fits(channel, chunk)) this.#flush()
    if (filler.isEmpty) this.#pendingSinceMs = atMs
    filler.add(channel, chunk, (atMs - this.#startedMs) * 1000, wallMs)
    this.#flushSoon(filler.sizeBytes)
    this.#press(atMs)
  }

  http(event: HttpEvent | UnheardMessage): void {
    if (this.#losses) return this.#losses.addHttp(event)
    // The first event may be older than the session's start, within the precision of the clocks.
    const us = Math.max(0, (event.atMs - this.#startedMs) * 1000)
    const filler = this.#httpFiller
    if (!filler.fits(event)) this.#flush()
    if (filler.isEmpty) this.#pendingSinceMs = event.atMs
    filler.add(event, us)
    this.#flushSoon(filler.sizeBytes)
    this.#press(event.atMs)
  }

  enter(entry: GateEntry): void {
    // The place of a stdio frame is in bytes that come later, so its decision must overtake the collected chunks.
    const overtakes = entry.kind === 'judge' && 'channel' in entry.place
    if (overtakes ? this.#died === undefined : this.#caughtUp())
      this.#post({ kind: 'gate', entry, ...this.#moment() })
  }

  ended(channel: Channel): void {
    if (this.#caughtUp()) this.#post({ kind: 'ended', channel, ...this.#moment() })
  }

  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string): void {
    if (this.#caughtUp()) this.#post({ kind: 'undelivered', channel, ...this.#moment(), deliveredBytes, why })
  }

  async openRequests(): Promise<readonly OpenRequest[]> {
    return (await this.#ask({ kind: 'open-requests' }))?.open ?? []
  }

  async toolHeaders(tool: string): Promise<readonly MirroredArgument[] | undefined> {
    return (await this.#ask({ kind: 'tool-headers', tool }))?.toolHeaders ?? undefined
  }

  close(end: SessionEnd): Promise<RecordingReport> {
    const listening = this.#caughtUp()
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (performance.now() - this.#thread.lastProgressMs >= lastWordsMs)
          this.#thread.giveUp('writing the tape makes no progress')
      }, stallMs / 4)
      this.#closed = { resolve, timer }
      if (!listening) return this.#finish(undefined)
      this.#thread.giveTime()
      this.#post({ kind: 'close', end })
    })
  }

  #begin(): void {
    this.#isReady()
    this.#relax()
  }

  #done(reply: Told, { message, sizeBytes }: Queued, beganMs: number): void {
    const tookMs = Math.max(0.1, this.#thread.lastProgressMs - beganMs)
    if (sizeBytes >= notableBytes) {
      this.#windowBytes = windowFor(sizeBytes / tookMs)
      this.#batchTookMs = tookMs
    }
    if (reply.trouble !== undefined) this.#options.onTrouble?.(reply.trouble)
    if (reply.free) this.#pool.giveBack(memoryOf(message), this.#thread.unansweredBytes > 0)
    const isAnswer = reply.open !== undefined || reply.toolHeaders !== undefined
    if (isAnswer) this.#asking.shift()?.(reply)
    this.#relax()
    if (!isAnswer) this.#options.onRecorded?.(reply.tapeEnd)
  }

  /** Senders wait for the new thread, as for the first one. */
  #replaced(words: string, lost: RecorderMessage | undefined): void {
    clearTimeout(this.#pauseTimer)
    if (lost?.kind === 'open-requests' || lost?.kind === 'tool-headers') this.#asking.shift()?.()
    this.#windowBytes = firstWindow
    this.#wait()
    this.#options.onTrouble?.(words)
  }

  #moment(): { us: number; wallMs: number } {
    return { us: (performance.now() - this.#startedMs) * 1000, wallMs: Date.now() }
  }

  #post(message: RecorderMessage): void {
    this.#thread.post(message, 0, performance.now())
  }

  #flushSoon(sizeBytes: number): void {
    if (sizeBytes >= Math.min(batchBytes, this.#windowBytes / batchesInWindow)) this.#flush()
    else this.#flushTimer ??= setTimeout(() => this.#flushCollected(), batchMs)
  }

  #flushCollected(): void {
    const { sizeBytes } = this.#filler
    this.#flush()
    if (this.#options.pausesTraffic && sizeBytes >= notableBytes) this.#pause()
  }

  #pause(): void {
    const isQuick = this.#thread.begun && this.#batchTookMs <= longestPauseMs
    if (!isQuick || this.#waiting || this.#died !== undefined) return
    this.#wait()
    this.#pauseTimer = setTimeout(() => {
      // While senders wait, no chunks arrive to fill a batch further.
      if (this.#isBehind(performance.now())) this.#flush()
      else this.#release()
    }, longestPauseMs)
  }

  #flush(): void {
    clearTimeout(this.#flushTimer)
    this.#flushTimer = undefined
    if (!this.#httpFiller.isEmpty) {
      const { sizeBytes } = this.#httpFiller
      this.#thread.post({ kind: 'http', batch: this.#httpFiller.take() }, sizeBytes, this.#pendingSinceMs)
    }
    if (this.#filler.isEmpty) return
    const { sizeBytes } = this.#filler
    this.#thread.post({ kind: 'chunks', batch: this.#filler.take() }, sizeBytes, this.#pendingSinceMs)
  }

  get #queuedBytes(): number {
    return this.#filler.sizeBytes + this.#httpFiller.sizeBytes + this.#thread.unansweredBytes
  }

  /** Senders wait while too much is queued, but not for a disk that is stuck. */
  #press(nowMs: number): void {
    if (this.#waiting || this.#died !== undefined) return
    if (!this.#isBehind(nowMs)) return
    // While senders wait, no chunks arrive to fill the batch further.
    this.#flush()
    this.#wait()
  }

  #isBehind(nowMs: number): boolean {
    return this.#queuedBytes > this.#windowBytes || this.#waitedMs(nowMs) > lagMs
  }

  #wait(): void {
    if (this.#waiting) return
    this.#waiting = true
    this.#options.onPressure(true)
    this.#stallTimer = setInterval(() => this.#checkStall(performance.now()), stallMs / 10)
  }

  /** Time spent computing does not count against the disk that is written to afterwards. */
  #checkStall(nowMs: number): void {
    const { begun, isWorking, lastProgressMs } = this.#thread
    if (isWorking) this.#seenWorkingMs = nowMs
    const sinceMs = begun && !isWorking ? Math.max(lastProgressMs, this.#seenWorkingMs) : lastProgressMs
    const patienceMs = !begun ? startMs : isWorking ? workMs : stallMs
    if (nowMs - sinceMs >= patienceMs) this.#stall()
  }

  /** Age of the oldest chunk that is not on the tape. */
  #waitedMs(nowMs: number): number {
    const isIdle = this.#filler.isEmpty && this.#httpFiller.isEmpty
    const sinceMs = this.#thread.oldest?.sinceMs ?? (isIdle ? nowMs : this.#pendingSinceMs)
    return nowMs - sinceMs
  }

  #release(): void {
    if (!this.#waiting) return
    this.#waiting = false
    clearTimeout(this.#pauseTimer)
    clearInterval(this.#stallTimer)
    this.#options.onPressure(false)
  }

  #stall(): void {
    this.#flush()
    this.#losses ??= new Losses()
    this.#release()
  }

  #relax(): void {
    if (this.#queuedBytes > this.#windowBytes / 2) return
    if (this.#waitedMs(performance.now()) > lagMs / 2) return
    this.#tellLosses()
    this.#release()
  }

  /** Ends a period without the tape: the thread gets the losses before any other message. */
  #tellLosses(): void {
    if (!this.#losses || this.#died !== undefined) return
    const told = this.#losses
    this.#losses = undefined
    for (const message of told.messages(this.#moment(), 'writing the tape made no progress for 1 s'))
      this.#post(message)
  }

  /** Posts everything seen so far, before another message. False when there is no recording thread any more. */
  #caughtUp(): boolean {
    this.#flush()
    this.#tellLosses()
    return this.#died === undefined
  }

  #ask(question: RecorderMessage): Promise<Told | undefined> {
    if (!this.#caughtUp()) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#asking.push(resolve)
      this.#post(question)
    })
  }

  #die(why: string): void {
    this.#died = why
    this.#isReady()
    this.#losses ??= new Losses()
    clearTimeout(this.#flushTimer)
    this.#filler.drop()
    this.#httpFiller.drop()
    this.#release()
    for (const tell of this.#asking.splice(0)) tell()
    this.#options.onTrouble?.(`${why}: recording stops here`)
    this.#finish(undefined)
  }

  #finish(report: RecordingReport | undefined): void {
    if (!this.#closed) return
    clearTimeout(this.#closed.timer)
    this.#closed.resolve(
      report ?? {
        paths: [this.#init.tape.path],
        messages: 0,
        gaps: 0,
        lost: 0,
        redacted: [],
        trouble: this.#died ?? 'the recording thread does not respond',
      },
    )
    this.#closed = undefined
    this.#died ??= 'closed'
  }
}
