import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'

/** Reply of the thread. */
export type SegmentTextAnswer = { readonly text: string } | { readonly failed: string }

/**
 * Pieces of segments for an SQL function, which must be synchronous: this thread sleeps while another one reads.
 */
export class SegmentTexts {
  readonly #address: string
  readonly #wake = new Int32Array(new SharedArrayBuffer(4))
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined

  /** @param address of the store */
  constructor(address: string) {
    this.#address = address
  }

  /** @throws if the store fails */
  at(segment: string, start: number, end: number): string {
    const { port } = (this.#thread ??= this.#start())
    Atomics.store(this.#wake, 0, 0)
    port.postMessage({ segment, start, end })
    let received: { readonly message: unknown } | undefined
    // The wake-up for the previous reply may arrive only now, after its message was taken.
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
