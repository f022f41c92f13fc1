import { Worker } from 'node:worker_threads'
import { segmentsOf, type FileIdentity } from '../tape/index.js'
import type { SaveReply, SaveRequest } from './session-save.js'

/** The shortest pause between saves; it also lasts at least 20 times as long as the last save. */
const shortestPauseMs = 30_000
const usualFactor = 20

/** Keeps a session file up to date while a tape is being recorded. */
export interface SessionSaver {
  /** Saves the recording so far. Returns why it could not be saved. */
  now(): Promise<string | undefined>
  /**
   * Saves the file for the last time.
   *
   * @param tapes segments of the finished tape
   * @returns why it could not be saved
   */
  finish(tapes: readonly string[]): Promise<string | undefined>
}

export interface SessionSaverOptions {
  /** The session file. */
  readonly target: string
  /** First segment of the tape. */
  readonly tape: string
  /** See `SaveRequest`. */
  readonly compact?: boolean
  /** @default 30,000 */
  readonly pauseMs?: number
  /** The pause after a save, as a multiple of its duration. @default 20 */
  readonly pauseFactor?: number
}

export function createSessionSaver(options: SessionSaverOptions): SessionSaver {
  const { target, tape, compact = false, pauseMs = shortestPauseMs, pauseFactor = usualFactor } = options
  let worker: Worker | undefined
  /** The file of our last save. Another program's file in its place is kept. */
  let own: FileIdentity | undefined
  let saving: Promise<SaveReply> | undefined
  let timer: NodeJS.Timeout | undefined = schedule(pauseMs)

  function schedule(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      void save(segmentsOf(tape), true).then((reply) => {
        if (timer !== undefined)
          timer = schedule(Math.max(pauseMs, 'tookMs' in reply ? pauseFactor * reply.tookMs : 0))
      })
    }, afterMs).unref()
  }

  async function save(tapes: readonly string[], yields = false): Promise<SaveReply> {
    // The thread answers requests one at a time.
    while (saving) await saving
    saving = ask({ tapes, target, own, yields, compact })
    const reply = await saving
    saving = undefined
    if ('tookMs' in reply) own = reply.own
    return reply
  }

  /** Never rejects. */
  function ask(request: SaveRequest): Promise<SaveReply> {
    const thread = (worker ??= startWorker())
    return new Promise((resolve) => {
      const settle = (reply: SaveReply): void => {
        // Removes only our listeners: without its own listeners, a worker never replies again.
        thread.off('message', settle).off('error', failed).off('exit', ended)
        resolve(reply)
      }
      const fail = (trouble: string): void => {
        worker = undefined
        settle({ trouble })
      }
      const failed = (error: Error): void => fail(`the saving thread failed: ${error.message}`)
      const ended = (): void => fail('the saving thread exited')
      thread.on('message', settle).on('error', failed).on('exit', ended)
      thread.postMessage(request)
    })
  }

  return {
    async now() {
      const reply = await save(segmentsOf(tape))
      return 'trouble' in reply ? reply.trouble : undefined
    },
    async finish(tapes) {
      clearTimeout(timer)
      timer = undefined
      const reply = await save(tapes)
      await worker?.terminate()
      return 'trouble' in reply ? reply.trouble : undefined
    },
  }
}

/** Saves a session file once. */
export async function saveOnce(request: SaveRequest): Promise<SaveReply> {
  const worker = startWorker()
  const reply = await new Promise<SaveReply>((resolve) => {
    worker.once('message', resolve)
    worker.once('error', (error) => resolve({ trouble: `the saving thread failed: ${error.message}` }))
    worker.once('exit', () => resolve({ trouble: 'the saving thread exited' }))
    worker.postMessage(request)
  })
  await worker.terminate()
  return reply
}

function startWorker(): Worker {
  return new Worker(new URL('./session-worker.js', import.meta.url), {
    // Output of libraries in the thread must not reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 512 },
  })
}
