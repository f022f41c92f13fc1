import { idKey } from '../../wire/index.js'
import type { ClientFrame } from '../link.js'

/** Requests of a client without a response. */
export class OpenRequests {
  readonly #open = new Map<string, ClientFrame>()
  #onSettled: () => void = () => undefined

  get count(): number {
    return this.#open.size
  }

  /** @param frame a single request */
  add(frame: ClientFrame): void {
    this.#open.set(idKey(frame.id!), frame)
  }

  find(id: string): ClientFrame | undefined {
    return this.#open.get(idKey(id))
  }

  isOpen(frame: ClientFrame): boolean {
    return frame.id !== undefined && this.#open.get(idKey(frame.id)) === frame
  }

  all(): ClientFrame[] {
    return [...this.#open.values()]
  }

  /** Closes a request. No effect for an unknown id. */
  settle(id: string | undefined): void {
    if (id !== undefined && this.#open.delete(idKey(id))) this.#onSettled()
  }

  /** Resolves when the next request is closed. */
  settled(): Promise<void> {
    return new Promise((resolve) => (this.#onSettled = resolve))
  }
}
