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

/** A recording thread that loads its code before its tape exists. */
export class EarlyThread {
  #worker: Worker | undefined = loadWorker()

  constructor() {
    for (const event of ['error', 'exit']) this.#worker?.on(event, () => (this.#worker = undefined))
  }

  /** Lets the thread begin. Later calls, and the first if it is gone, start another one. */
  readonly begin = (init: RecorderInit): Worker => {
    const worker = this.#worker ?? loadWorker()
    this.#worker = undefined
    worker.postMessage(init)
    return worker
  }

  /** Ends a thread that has not begun. */
  close(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
  }
}

/** A thread that loads its code, and begins with its first message: a `RecorderInit`. */
function loadWorker(): Worker {
  return new Worker(new URL('./recorder-worker.js', import.meta.url), {
    // Output of libraries in the thread must not reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
    env: threadEnv(),
    // A small young generation is collected more often and costs no more; the default may grow to 48 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: heapMb() },
  })
}
