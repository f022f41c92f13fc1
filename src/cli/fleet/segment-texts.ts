import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'

/** What the thread answers. */
export type SegmentTextAnswer = { readonly text: string } | { readonly failed: string }

/**
 * Pieces of segments, for a function of SQL, which cannot wait for a store: a thread reads, and this one sleeps meanwhile.
 */
export class SegmentTexts {
  readonly #address: string
  readonly #wake = new Int32Array(new SharedArrayBuffer(4))
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined

  /** @param address of the store */
  constructor(address: string) {
    this.#address = address
  }

  /** @throws when the store says no */
  at(segment: string, start: number, end: number): string {
    const { port } = (this.#thread ??= this.#start())
    Atomics.store(this.#wake, 0, 0)
    port.postMessage({ segment, start, end })
    let received: { readonly message: unknown } | undefined
    // The wake-up of the answer before may come only now, after its message was taken.
    while (!(received = receiveMessageOnPort(port))) Atomics.wait(this.#wake, 0, 0)
    const answer = received.message as SegmentTextAnswer
    if ('failed' in answer) throw new Error(answer.failed)
    return answer.text
  }

  async close(): Promise<void> {
    await this.#thread?.worker.terminate()
  }

  #start(): { worker: Worker; port: MessagePort } {
    const { port1, port2 } = new MessageChannel()
    const worker = new Worker(new URL('./segment-texts-worker.js', import.meta.url), {
      workerData: { address: this.#address, wake: this.#wake, port: port2 },
      transferList: [port2],
      execArgv: [],
    })
    return { worker, port: port1 }
  }
}
