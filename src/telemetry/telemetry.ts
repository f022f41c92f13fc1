import { Worker } from 'node:worker_threads'
import type { TapeEnd } from '../tape/index.js'
import type { TelemetryReport } from './exporter.js'
import type { WorkerInit, WorkerReply, WorkerRequest } from './messages.js'
import type { TelemetrySettings } from './settings.js'

/** Exports recordings while they are made. */
export interface Telemetry {
  /** @param tape path of the first segment */
  follow(tape: string): Following
}

/** One exported recording. None of its functions throws; only `finish` waits for a receiver. */
export interface Following {
  /** The tape has grown. @param end how far it is written, if known */
  grew(end: TapeEnd | undefined): void
  /** The tape is complete. Takes at most 5 s. Never rejects. */
  finish(): Promise<TelemetryOutcome>
}

/** A report, or why there is none. */
export type TelemetryOutcome = TelemetryReport | { readonly trouble: string }

/** The thread itself ends earlier, unless it is stuck. */
const lastWordsMs = 5_000

/** Starts its thread with the first recorded message, so that it does not delay a server's start. */
export function createTelemetry(settings: TelemetrySettings, version: string): Telemetry {
  let worker: Worker | undefined
  let trouble: string | undefined
  let next = 0
  const open = new Map<number, (outcome: TelemetryOutcome) => void>()
  let following = 0

  function fail(why: string): void {
    trouble ??= why
    worker = undefined
    for (const settle of open.values()) settle({ trouble })
    open.clear()
  }

  function thread(): Worker | undefined {
    if (worker || trouble !== undefined) return worker
    try {
      worker = startWorker({ settings, version })
    } catch (error) {
      fail(String(error))
      return undefined
    }
    worker.on('message', ({ id, report }: WorkerReply) => {
      open.get(id)?.(report)
      open.delete(id)
    })
    worker.on('error', (error) => fail(error.message))
    worker.on('exit', () => fail('the telemetry thread exited'))
    // The recording keeps the process alive; the telemetry must not.
    worker.unref()
    return worker
  }

  function follow(tape: string): Following {
    const id = next
    next += 1
    following += 1
    let isTold = false
    const tell = (request: WorkerRequest): void => {
      const own = thread()
      if (!isTold) own?.postMessage({ kind: 'follow', id, tape } satisfies WorkerRequest)
      isTold = true
      own?.postMessage(request)
    }
    return {
      grew: (end) => tell({ kind: 'grew', id, end }),
      async finish() {
        tell({ kind: 'finish', id })
        if (trouble !== undefined) return { trouble }
        const outcome = await new Promise<TelemetryOutcome>((resolve) => {
          const timer = setTimeout(
            () => resolve({ trouble: 'the telemetry thread did not finish in time' }),
            lastWordsMs,
          )
          open.set(id, (settled) => {
            clearTimeout(timer)
            resolve(settled)
          })
        })
        following -= 1
        if (following === 0) {
          worker?.removeAllListeners('exit')
          await worker?.terminate()
        }
        return outcome
      },
    }
  }
  return { follow }
}

function startWorker(workerData: WorkerInit): Worker {
  return new Worker(new URL('./telemetry-worker.js', import.meta.url), {
    workerData,
    // Output of libraries in the thread must not reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 384 },
  })
}
