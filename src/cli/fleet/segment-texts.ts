import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'

/** Time between the thread's signs of life. */
export const beatMs = 1_000
/** Longest time without one. */
const silenceMs = 30_000
/** Longest time for an answer; that of one S3 request. */
const answerMs = 300_000

/** Reply of the thread. */
export type SegmentTextAnswer = { readonly text: string } | { readonly failed: string }

/**
 * Pieces of segments for an SQL function, which must be synchronous: this thread sleeps while another one reads.
 */
export class SegmentTexts {
  readonly #address: string
  /** 1 for a reply; number of signs of life. */
  readonly #wake = new Int32Array(new SharedArrayBuffer(8))
  readonly #silenceMs: number
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined

  /** @param address of the store */
  constructor(address: string, silentForMs = silenceMs) {
    this.#address = address
    this.#silenceMs = silentForMs
  }

  /** @throws if the store fails or does not answer */
  at(segment: string, start: number, end: number): string {
    const { port } = (this.#thread ??= this.#start())
    Atomics.store(this.#wake, 0, 0)
    port.postMessage({ segment, start, end })
    let received: { readonly message: unknown } | undefined
    // The wake-up for the previous reply may arrive only now, after its message was taken.
    const startMs = performance.now()
    let [beats, beatAtMs] = [-1, startMs]
    while (!(received = receiveMessageOnPort(port))) {
      Atomics.wait(this.#wake, 0, 0, Math.min(beatMs, this.#silenceMs))
      const nowMs = performance.now()
      const beatsNow = Atomics.load(this.#wake, 1)
      if (beatsNow !== beats) [beats, beatAtMs] = [beatsNow, nowMs]
      if (nowMs - beatAtMs > this.#silenceMs || nowMs - startMs > answerMs) throw this.#givenUp()
    }
    const answer = received.message as SegmentTextAnswer
    if ('failed' in answer) throw new Error(answer.failed)
    return answer.text
  }

  async close(): Promise<void> {
    await this.#thread?.worker.terminate()
  }

  /** Ends the thread: a late reply must not count for the next request. */
  #givenUp(): Error {
    void this.#thread?.worker.terminate()
    this.#thread = undefined
    return new Error(`cannot read ${this.#address}: no response; repeat the query`)
  }

  #start(): { worker: Worker; port: MessagePort } {
    const { port1, port2 } = new MessageChannel()
    const worker = new Worker(new URL('./segment-texts-worker.js', import.meta.url), {
      workerData: { address: this.#address, wake: this.#wake, port: port2 },
      transferList: [port2],
      execArgv: [],
    })
    // No event arrives while `at` sleeps; missing signs of life end the wait.
    worker.on('error', () => undefined)
    return { worker, port: port1 }
  }
}
