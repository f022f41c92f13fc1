import module from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { RecorderInit } from './recorder-core.js'

/** Memory of the recording thread in MB. The environment may change it. */
const usualHeapMb = 512
const leastHeapMb = 16
const mostHeapMb = 4_096

/** Memory of the recording thread in MB. A thread that needs more is ended and replaced. */
function heapMb(): number {
  const given = Number(process.env['WIRETAPE_RECORDER_HEAP_MB'])
  return Number.isInteger(given) && given >= leastHeapMb ? Math.min(given, mostHeapMb) : usualHeapMb
}

/** The environment of the thread. Node passes the cache of compiled code to a thread only this way. */
function threadEnv(): NodeJS.ProcessEnv {
  const folder = (module as { getCompileCacheDir?: () => string | undefined }).getCompileCacheDir?.()
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) }
}

export interface ThreadData {
  /** It starts before its settings are known, and has time to rehearse. */
  readonly isEarly: boolean
}

/** A recording thread that waits for a `RecorderInit` as its first message. */
function startThread(workerData: ThreadData): Worker {
  return new Worker(new URL('./recorder-worker.js', import.meta.url), {
    // Output of libraries in the thread must not reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
    workerData,
    env: threadEnv(),
    // A small young generation is collected more often and costs no more; the default may grow to 48 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: heapMb() },
  })
}

/** Starts a recording thread for `init`. */
export function startWorker(init: RecorderInit): Worker {
  const worker = startThread({ isEarly: false })
  worker.postMessage(init)
  return worker
}

/** A recording thread that loads its code before its settings are known. Taken or dropped once. */
export class EarlyThread {
  #worker: Worker | undefined

  constructor() {
    try {
      const worker = startThread({ isEarly: true })
      this.#worker = worker
      // `take` then starts another thread, whose errors are reported.
      const lose = (): void => void (this.#worker = undefined)
      worker.on('error', lose)
      worker.on('exit', lose)
    } catch {
      // The same applies here.
    }
  }

  /** The thread, with `init` posted to it; a new thread if this one failed or was taken. */
  readonly take = (init: RecorderInit): Worker => {
    const worker = this.#worker
    if (!worker) return startWorker(init)
    this.#worker = undefined
    worker.postMessage(init)
    return worker
  }

  /** Ends the thread, unless it was taken. */
  drop(): void {
    void this.#worker?.terminate()
  }
}
