import type { ServerLink, ServerMessage } from '../link.js'
import type { EventResponse } from './sse-response.js'

/** The event stream of a client outside of its requests. Messages wait while there is none. */
export class StandaloneStream implements ServerLink {
  readonly #waiting: (() => void)[] = []
  #stream: EventResponse | undefined
  #isClosed = false

  get isOpen(): boolean {
    return this.#stream?.isOpen === true
  }

  /** False when a stream is already attached. */
  attach(stream: EventResponse): boolean {
    if (this.isOpen) return false
    this.#stream = stream
    this.#wake()
    return true
  }

  async send({ text, noise }: ServerMessage): Promise<void> {
    if (noise) return
    while (!this.#isClosed && !this.isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (!this.#isClosed) await this.#stream?.event('message', text)
  }

  cut(): void {
    this.#stream?.cut()
  }

  /** Sends no more, and releases waiting senders. */
  close(): void {
    this.#isClosed = true
    this.#stream?.end()
    this.#wake()
  }

  #wake(): void {
    for (const goOn of this.#waiting.splice(0)) goOn()
  }
}
