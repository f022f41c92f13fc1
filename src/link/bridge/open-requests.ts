import { idKey } from '../../wire/index.js'
import type { ClientFrame } from '../link.js'

/** Requests of a client that have no answer yet. */
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

  /** Nobody waits for it any more. Does nothing for an id that is not known. */
  settle(id: string | undefined): void {
    if (id !== undefined && this.#open.delete(idKey(id))) this.#onSettled()
  }

  /** Resolves when the next one is settled. */
  settled(): Promise<void> {
    return new Promise((resolve) => (this.#onSettled = resolve))
  }
}
