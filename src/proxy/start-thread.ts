import { Worker } from 'node:worker_threads'
import type { RecorderInit } from './recorder-core.js'

/** Memory of the recording thread, which the environment may change. */
const usualHeapMb = 512
const leastHeapMb = 16
const mostHeapMb = 4_096

/** Memory of the recording thread in MB. What needs more ends it, and another one takes its place. */
function heapMb(): number {
  const given = Number(process.env['WIRETAPE_RECORDER_HEAP_MB'])
  return Number.isInteger(given) && given >= leastHeapMb ? Math.min(given, mostHeapMb) : usualHeapMb
}

/** A recording thread that waits for what it is to record: a `RecorderInit` is its first message. */
function startThread(): Worker {
  return new Worker(new URL('./recorder-worker.js', import.meta.url), {
    // Nothing a library prints in there may reach the client's stdout.
    stdout: true,
    stderr: true,
    execArgv: [],
    // A small nursery is collected more often and costs no more; the default may grow to 48 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: heapMb() },
  })
}

/** Starts a recording thread for `init`. */
export function startWorker(init: RecorderInit): Worker {
  const worker = startThread()
  worker.postMessage(init)
  return worker
}

/** A recording thread that loads its code while it is found out what it is to record. Taken or dropped once. */
export class EarlyThread {
  #worker: Worker | undefined

  constructor() {
    try {
      const worker = startThread()
      this.#worker = worker
      // Whoever takes it starts another one, and hears what is wrong with that.
      const lose = (): void => void (this.#worker = undefined)
      worker.on('error', lose)
      worker.on('exit', lose)
    } catch {
      // The same.
    }
  }

  /** The thread, at work on `init`; another one where this one has failed or was taken. */
  readonly take = (init: RecorderInit): Worker => {
    const worker = this.#worker
    if (!worker) return startWorker(init)
    this.#worker = undefined
    worker.postMessage(init)
    return worker
  }

  /** It is not needed, unless it was taken. */
  drop(): void {
    void this.#worker?.terminate()
  }
}
