import { Worker } from 'node:worker_threads'
import type { JournalReport } from '../tape/index.js'
import { channels, type Channel } from './channel.js'
import { markSize, type RecorderInit, type RecorderMessage, type SessionEnd } from './recorder-core.js'

/** What the recording thread answers: one reply to every message, in order. */
export type RecorderReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'closed'; readonly report: JournalReport }

/** Bytes that may wait for the tape. Above this the senders have to wait. */
const queueBytes = 16 * 1024 * 1024
/** Bytes handed over at a time. Small enough that progress shows on a slow disk. */
const batchBytes = 512 * 1024
/** Chunks wait this long for others, so that the recording thread is not woken for each message. */
const batchMs = 20
/** Without any progress for this long, traffic goes on without the tape. */
const stallMs = 1_000

/**
 * The forwarding side of a recording: takes a copy of everything that passed and hands it to a thread of
 * its own in batches. Never waits and never throws; what cannot be recorded is counted and told.
 */
export interface Recorder {
  bytes(channel: Channel, chunk: Uint8Array): void
  ended(channel: Channel): void
  /** Only the first `deliveredBytes` of the channel reached the other side. */
  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string): void
  /** Writes what is queued and the last line. Resolves when the tape is on the disk, or cannot be. */
  close(end: SessionEnd): Promise<JournalReport>
}

export interface RecorderOptions {
  /** Called with true when the senders must wait, and with false when they may go on. */
  readonly onPressure: (wait: boolean) => void
  /** Starts the recording thread. @default the real one */
  readonly startWorker?: (init: RecorderInit) => RecorderWorker
}

/** The part of a worker thread that is used here. */
export type RecorderWorker = Pick<Worker, 'postMessage' | 'on' | 'terminate'>

interface Loss {
  bytes: number
  lines: number
  atLineStart: boolean
}

export function createRecorder(init: RecorderInit, options: RecorderOptions): Recorder {
  const worker = (options.startWorker ?? startWorker)(init)
  const startedMs = performance.now() - Number(process.hrtime.bigint() - init.startedNs) / 1e6

  let chunks: Uint8Array[] = []
  let marks: number[] = []
  let pendingBytes = 0
  let flushTimer: NodeJS.Timeout | undefined
  /** Sizes of the messages that the thread has not answered yet. */
  const unanswered: number[] = []
  let unansweredBytes = 0
  let lastProgressMs = performance.now()
  let waiting = false
  let stallTimer: NodeJS.Timeout | undefined
  /** Set while traffic goes on without the tape; what each channel lost. */
  let losses: Map<Channel, Loss> | undefined
  let died: string | undefined
  let closed: { resolve(report: JournalReport): void; timer: NodeJS.Timeout } | undefined

  worker.on('message', (reply: RecorderReply) => {
    lastProgressMs = performance.now()
    unansweredBytes -= unanswered.shift() ?? 0
    if (reply.kind === 'closed') finish(reply.report)
    else relax()
  })
  worker.on('error', (error: Error) => die(`the recording thread failed: ${error.message}`))
  worker.on('exit', () => die('the recording thread ended'))

  const moment = (): { us: number; wallMs: number } => ({
    us: (performance.now() - startedMs) * 1000,
    wallMs: Date.now(),
  })

  function post(message: RecorderMessage, sizeBytes: number, transfer: ArrayBuffer[] = []): void {
    unanswered.push(sizeBytes)
    unansweredBytes += sizeBytes
    worker.postMessage(message, transfer)
  }

  function flush(): void {
    clearTimeout(flushTimer)
    flushTimer = undefined
    if (chunks.length === 0) return
    const bytes = new Uint8Array(pendingBytes)
    let offset = 0
    for (const chunk of chunks) {
      bytes.set(chunk, offset)
      offset += chunk.length
    }
    const marksArray = new Float64Array(marks)
    const size = pendingBytes
    chunks = []
    marks = []
    pendingBytes = 0
    post({ kind: 'chunks', bytes, marks: marksArray }, size, [bytes.buffer, marksArray.buffer])
  }

  /** Senders wait while too much is queued; not for a disk that does not move at all. */
  function press(): void {
    if (waiting || died !== undefined || pendingBytes + unansweredBytes <= queueBytes) return
    waiting = true
    lastProgressMs = Math.max(lastProgressMs, performance.now() - stallMs / 2)
    options.onPressure(true)
    stallTimer = setInterval(() => {
      if (performance.now() - lastProgressMs >= stallMs) stall()
    }, stallMs / 10)
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
    if (pendingBytes + unansweredBytes > queueBytes / 2) return
    tellLosses()
    release()
  }

  /** Ends a time without the tape: the thread hears what it missed before it hears anything else. */
  function tellLosses(): void {
    if (!losses || died !== undefined) return
    const told = losses
    losses = undefined
    for (const [channel, loss] of told) {
      post({ kind: 'lost', channel, ...moment(), ...loss, why: 'the disk made no progress for 1 s' }, 0)
    }
  }

  /** Everything seen so far is on its way before something else is said. False when nobody listens any more. */
  function caughtUp(): boolean {
    flush()
    tellLosses()
    return died === undefined
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
    losses ??= new Map()
    clearTimeout(flushTimer)
    chunks = []
    marks = []
    release()
    finish(undefined)
  }

  function finish(report: JournalReport | undefined): void {
    if (!closed) return
    clearTimeout(closed.timer)
    closed.resolve(
      report ?? {
        paths: [init.tape.path],
        messages: 0,
        gaps: 0,
        lost: 0,
        trouble: died ?? 'the disk does not answer',
      },
    )
    closed = undefined
    died ??= 'closed'
  }

  return {
    bytes(channel, chunk) {
      if (losses) return lose(channel, chunk)
      chunks.push(chunk)
      const at = marks.length
      marks.length = at + markSize
      marks[at] = channels.indexOf(channel)
      marks[at + 1] = (performance.now() - startedMs) * 1000
      marks[at + 2] = Date.now()
      marks[at + 3] = chunk.length
      pendingBytes += chunk.length
      if (pendingBytes >= batchBytes) flush()
      else flushTimer ??= setTimeout(flush, batchMs)
      press()
    },
    ended(channel) {
      if (caughtUp()) post({ kind: 'ended', channel, ...moment() }, 0)
    },
    undelivered(channel, deliveredBytes, why) {
      if (caughtUp()) post({ kind: 'undelivered', channel, ...moment(), deliveredBytes, why }, 0)
    },
    close(end) {
      const listening = caughtUp()
      return new Promise((resolve) => {
        const timer = setInterval(() => {
          if (performance.now() - lastProgressMs < 2 * stallMs) return
          void worker.terminate()
          die('the disk makes no progress')
        }, stallMs / 4)
        closed = { resolve, timer }
        if (!listening) return finish(undefined)
        lastProgressMs = performance.now()
        post({ kind: 'close', end }, 0)
      })
    },
  }
}

function startWorker(init: RecorderInit): Worker {
  return new Worker(new URL('./recorder-worker.js', import.meta.url), {
    workerData: init,
    // Nothing a library prints in there may reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
  })
}
