import { Worker } from 'node:worker_threads'
import type { OpenRequest } from '../model/index.js'
import type { TapeEnd } from '../tape/index.js'
import type { MirroredArgument } from '../wire/index.js'
import type { Channel } from './channel.js'
import { BatchFiller } from './chunk-batch.js'
import type { HttpEvent, UnheardMessage } from '../transports/index.js'
import type { Ledger, ToolBook } from '../intercept/index.js'
import { HttpBatchFiller } from './http-batch.js'
import { RegionPool } from './region-pool.js'
import { createThreadState, isWorking } from './thread-state.js'
import type { RecorderInit, RecorderMessage, RecordingReport, SessionEnd } from './recorder-core.js'

/** What the recording thread says: that it is there, then one reply to every message, in order. */
export type RecorderReply =
  | { readonly kind: 'ready' }
  /** `buffers` is the memory of the chunks, handed back. */
  | {
      readonly kind: 'done'
      readonly buffers?: readonly ArrayBuffer[]
      readonly open?: readonly OpenRequest[]
      readonly tapeEnd?: TapeEnd
      /** Null for a tool that was never listed. */
      readonly toolHeaders?: readonly MirroredArgument[] | null
    }
  | { readonly kind: 'closed'; readonly report: RecordingReport }

/** Bytes that may wait for the tape. Above this the senders have to wait. */
const queueBytes = 16 * 1024 * 1024
/** Bytes handed over at a time. */
const batchBytes = 512 * 1024
/** Chunks wait this long for others, so that the recording thread is not woken for each message. */
const batchMs = 20
/**
 * Nothing waits longer than this for the tape while senders go on, so that what was passed on is on the disk
 * within 100 ms even when the recording thread gets little of the processor.
 */
const lagMs = 40
/**
 * Senders also wait while more is queued than the recording thread deals with in this time at its present
 * pace: it is slow while its code is new, and where it shares a processor.
 */
const windowMs = 25
/** May be queued before any pace is known. */
const firstWindow = 64 * 1024
/** May be queued however slow it is. */
const smallestWindow = 512 * 1024
/** Without any progress for this long, traffic goes on without the tape: the disk does not move. */
const stallMs = 1_000
/** One huge message may keep the thread busy, on a busy machine for seconds: its senders wait for it. */
const workMs = 10_000
/** A thread that is only just starting gets more: losing the first messages is worse than a slow start. */
const startMs = 10_000
/** At the end: a thread that is busy with one huge message is worth waiting for, one that hangs is not. */
const lastWordsMs = 10_000

/**
 * The forwarding side of a recording: takes a copy of everything that passed and hands it to a thread of
 * its own in batches. Never waits and never throws; what cannot be recorded is counted and told.
 */
export interface Recorder extends Ledger, ToolBook {
  /** Resolves when the recording thread can take messages, or is not worth waiting for. Never rejects. */
  readonly ready: Promise<void>
  /** @param atMs when it came, by `performance.now()` @param wallMs the same in milliseconds since the epoch */
  bytes(channel: Channel, chunk: Uint8Array, atMs?: number, wallMs?: number): void
  ended(channel: Channel): void
  /** Something passed on an HTTP exchange; its bytes are copied. */
  http(event: HttpEvent | UnheardMessage): void
  /** Only the first `deliveredBytes` of the channel reached the other side. */
  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string): void
  /** Requests that wait for an answer, as of all that was told so far. Never rejects. */
  openRequests(): Promise<readonly OpenRequest[]>
  /** Writes what is queued and the last line. Resolves when the tape is on the disk, or cannot be. */
  close(end: SessionEnd): Promise<RecordingReport>
}

export interface RecorderOptions {
  /** Called with true when the senders must wait, and with false when they may go on. */
  readonly onPressure: (wait: boolean) => void
  /** More is on the tape. @param end how far it is written, where that is known */
  readonly onRecorded?: (end: TapeEnd | undefined) => void
  /** Starts the recording thread. @default the real one */
  readonly startWorker?: (init: RecorderInit) => RecorderWorker
}

/** The part of a worker thread that is used here. */
export type RecorderWorker = Pick<Worker, 'postMessage' | 'on' | 'terminate'>

type Told = Extract<RecorderReply, { kind: 'done' }>

interface Loss {
  bytes: number
  lines: number
  atLineStart: boolean
}

export function createRecorder(init: RecorderInit, options: RecorderOptions): Recorder {
  const state = createThreadState()
  const worker = (options.startWorker ?? startWorker)({ ...init, state })
  const startedMs = performance.now() - Number(process.hrtime.bigint() - init.startedNs) / 1e6

  const pool = new RegionPool()
  const filler = new BatchFiller(pool)
  const httpFiller = new HttpBatchFiller(pool)
  let lostHttpBytes = 0
  let hasLostHttp = false
  let flushTimer: NodeJS.Timeout | undefined
  /** When the oldest chunk of the batch that is being filled arrived. */
  let pendingSinceMs = 0
  /** What the thread has not answered yet: size, and the arrival of the oldest chunk in it. */
  const unanswered: { readonly sizeBytes: number; readonly sinceMs: number; readonly postedMs: number }[] = []
  /** What may be queued at the present pace. */
  let windowBytes = firstWindow
  let unansweredBytes = 0
  let lastProgressMs = performance.now()
  /** The thread has said something. */
  let begun = false
  let waiting = false
  let stallTimer: NodeJS.Timeout | undefined
  /** Set while traffic goes on without the tape; what each channel lost. */
  let losses: Map<Channel, Loss> | undefined
  let died: string | undefined
  let closed: { resolve(report: RecordingReport): void; timer: NodeJS.Timeout } | undefined

  /** Those who asked something, in their order; they get no answer from a thread that died. */
  const asking: ((answer?: Told) => void)[] = []

  let isReady: () => void = () => undefined
  const ready = new Promise<void>((resolve) => {
    const patience = setTimeout(resolve, startMs)
    isReady = () => {
      clearTimeout(patience)
      resolve()
    }
  })

  worker.on('message', (reply: RecorderReply) => {
    const nowMs = performance.now()
    const beganMs = Math.max(lastProgressMs, unanswered[0]?.postedMs ?? 0)
    lastProgressMs = nowMs
    begun = true
    if (reply.kind === 'ready') return isReady()
    const { sizeBytes } = unanswered.shift() ?? { sizeBytes: 0 }
    unansweredBytes -= sizeBytes
    if (sizeBytes >= firstWindow / 4) windowBytes = windowFor(sizeBytes / Math.max(0.1, nowMs - beganMs))
    if (reply.kind === 'done' && reply.buffers) pool.giveBack(reply.buffers)
    if (reply.kind === 'done' && (reply.open || reply.toolHeaders !== undefined)) asking.shift()?.(reply)
    if (reply.kind === 'closed') finish(reply.report)
    else relax()
    if (reply.kind === 'closed') options.onRecorded?.(undefined)
    else if (!reply.open && reply.toolHeaders === undefined) options.onRecorded?.(reply.tapeEnd)
  })
  worker.on('error', (error: Error) => die(`the recording thread failed: ${error.message}`))
  worker.on('exit', () => die('the recording thread ended'))

  const moment = (): { us: number; wallMs: number } => ({
    us: (performance.now() - startedMs) * 1000,
    wallMs: Date.now(),
  })

  function post(message: RecorderMessage, sizeBytes: number, transfer: ArrayBuffer[] = []): void {
    // While nothing is asked of it, the thread owes no progress.
    const nowMs = performance.now()
    if (unanswered.length === 0) lastProgressMs = nowMs
    const sinceMs = message.kind === 'chunks' || message.kind === 'http' ? pendingSinceMs : nowMs
    unanswered.push({ sizeBytes, sinceMs, postedMs: nowMs })
    unansweredBytes += sizeBytes
    worker.postMessage(message, transfer)
  }

  function flush(): void {
    clearTimeout(flushTimer)
    flushTimer = undefined
    if (!httpFiller.isEmpty) {
      const { sizeBytes } = httpFiller
      const { batch, transfer } = httpFiller.take()
      post({ kind: 'http', batch }, sizeBytes, transfer)
    }
    if (filler.isEmpty) return
    const { sizeBytes } = filler
    const { batch, transfer } = filler.take()
    post({ kind: 'chunks', batch }, sizeBytes, transfer)
  }

  /** Senders wait while too much is queued; not for a disk that does not move at all. */
  function press(nowMs: number): void {
    if (waiting || died !== undefined) return
    if (filler.sizeBytes + httpFiller.sizeBytes + unansweredBytes <= windowBytes && waitedMs(nowMs) <= lagMs)
      return
    // Nobody comes to fill the batch further.
    flush()
    waiting = true
    options.onPressure(true)
    stallTimer = setInterval(() => {
      if (performance.now() - lastProgressMs >= patienceMs()) stall()
    }, stallMs / 10)
  }

  function patienceMs(): number {
    if (!begun) return startMs
    return isWorking(state) ? workMs : stallMs
  }

  /** How long the oldest chunk that is not on the tape has waited. */
  function waitedMs(nowMs: number): number {
    const isIdle = filler.isEmpty && httpFiller.isEmpty
    const sinceMs = unanswered[0]?.sinceMs ?? (isIdle ? nowMs : pendingSinceMs)
    return nowMs - sinceMs
  }

  function release(): void {
    if (!waiting) return
    waiting = false
    clearInterval(stallTimer)
    options.onPressure(false)
  }

  function stall(): void {
    flush()
    losses ??= new Map()
    release()
  }

  function relax(): void {
    if (filler.sizeBytes + httpFiller.sizeBytes + unansweredBytes > windowBytes / 2) return
    if (waitedMs(performance.now()) > lagMs / 2) return
    tellLosses()
    release()
  }

  /** Ends a time without the tape: the thread hears what it missed before it hears anything else. */
  function tellLosses(): void {
    if (!losses || died !== undefined) return
    const told = losses
    losses = undefined
    const why = 'the tape made no progress for 1 s'
    if (hasLostHttp) post({ kind: 'http-lost', ...moment(), bytes: lostHttpBytes, why }, 0)
    lostHttpBytes = 0
    hasLostHttp = false
    for (const [channel, loss] of told) {
      post({ kind: 'lost', channel, ...moment(), ...loss, why }, 0)
    }
  }

  /** Everything seen so far is on its way before something else is said. False when nobody listens any more. */
  function caughtUp(): boolean {
    flush()
    tellLosses()
    return died === undefined
  }

  function ask(question: RecorderMessage): Promise<Told | undefined> {
    if (!caughtUp()) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      asking.push(resolve)
      post(question, 0)
    })
  }

  function lose(channel: Channel, chunk: Uint8Array): void {
    let loss = losses!.get(channel)
    if (!loss) losses!.set(channel, (loss = { bytes: 0, lines: 0, atLineStart: false }))
    loss.bytes += chunk.length
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) loss.lines += 1
    loss.atLineStart = chunk.at(-1) === 0x0a
  }

  function die(why: string): void {
    if (died !== undefined) return
    died = why
    isReady()
    losses ??= new Map()
    clearTimeout(flushTimer)
    filler.drop()
    httpFiller.drop()
    release()
    for (const tell of asking.splice(0)) tell()
    finish(undefined)
  }

  function finish(report: RecordingReport | undefined): void {
    if (!closed) return
    clearTimeout(closed.timer)
    closed.resolve(
      report ?? {
        paths: [init.tape.path],
        messages: 0,
        gaps: 0,
        lost: 0,
        redacted: [],
        trouble: died ?? 'the recording thread does not answer',
      },
    )
    closed = undefined
    died ??= 'closed'
  }

  return {
    ready,
    bytes(channel, chunk, atMs = performance.now(), wallMs = Date.now()) {
      if (losses) return lose(channel, chunk)
      if (!filler.fits(channel, chunk.length)) flush()
      if (filler.isEmpty) pendingSinceMs = atMs
      filler.add(channel, chunk, (atMs - startedMs) * 1000, wallMs)
      if (filler.sizeBytes >= batchBytes) flush()
      else flushTimer ??= setTimeout(flush, batchMs)
      press(atMs)
    },
    http(event) {
      if (losses) {
        lostHttpBytes += 'bytes' in event ? event.bytes.length : 0
        hasLostHttp = true
        return
      }
      // A session may begin with an event of before, as exactly as clocks can be compared.
      const us = Math.max(0, (event.atMs - startedMs) * 1000)
      if (!httpFiller.fits(event)) flush()
      if (httpFiller.isEmpty) pendingSinceMs = event.atMs
      httpFiller.add(event, us)
      if (httpFiller.sizeBytes >= batchBytes) flush()
      else flushTimer ??= setTimeout(flush, batchMs)
      press(event.atMs)
    },
    enter(entry) {
      // A verdict of stdio names the bytes that it is about, which come after it: it overtakes what is collected.
      const overtakes = entry.kind === 'verdict' && 'channel' in entry.place
      if (overtakes ? died === undefined : caughtUp()) post({ kind: 'gate', entry, ...moment() }, 0)
    },
    ended(channel) {
      if (caughtUp()) post({ kind: 'ended', channel, ...moment() }, 0)
    },
    undelivered(channel, deliveredBytes, why) {
      if (caughtUp()) post({ kind: 'undelivered', channel, ...moment(), deliveredBytes, why }, 0)
    },
    openRequests: async () => (await ask({ kind: 'open-requests' }))?.open ?? [],
    toolHeaders: async (tool) => (await ask({ kind: 'tool-headers', tool }))?.toolHeaders ?? undefined,
    close(end) {
      const listening = caughtUp()
      return new Promise((resolve) => {
        const timer = setInterval(() => {
          if (performance.now() - lastProgressMs < lastWordsMs) return
          void worker.terminate()
          die('the tape makes no progress')
        }, stallMs / 4)
        closed = { resolve, timer }
        if (!listening) return finish(undefined)
        lastProgressMs = performance.now()
        post({ kind: 'close', end }, 0)
      })
    },
  }
}

function windowFor(bytesPerMs: number): number {
  return Math.min(queueBytes, Math.max(smallestWindow, bytesPerMs * windowMs))
}

function startWorker(init: RecorderInit): Worker {
  return new Worker(new URL('./recorder-worker.js', import.meta.url), {
    workerData: init,
    // Nothing a library prints in there may reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
    // A small nursery is collected more often and costs no more; the default may grow to 48 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 512 },
  })
}
