import { idKey } from '../../wire/index.js'
import type { ClientFrame } from '../link.js'

/** Frames with open requests. */
export class OpenFrames {
  readonly #open = new Map<ClientFrame, { left: number; readonly leaving: AbortController }>()
  readonly #left = new WeakSet<ClientFrame>()

  /** @returns a signal that aborts when the frame is abandoned; undefined for a frame without requests */
  add(frame: ClientFrame): AbortSignal | undefined {
    if (frame.requests === 0) return undefined
    const leaving = new AbortController()
    this.#open.set(frame, { left: frame.requests, leaving })
    return leaving.signal
  }

  isOpen(frame: ClientFrame): boolean {
    return this.#open.has(frame)
  }

  hasLeft(frame: ClientFrame): boolean {
    return this.#left.has(frame)
  }

  answered(frame: ClientFrame): void {
    const one = this.#open.get(frame)
    if (one && (one.left -= 1) <= 0) this.#open.delete(frame)
  }

  /** A response on a stream of another request, or of none: closes the oldest open request with this id. */
  answeredId(id: string): void {
    const key = idKey(id)
    for (const frame of this.#open.keys()) {
      if (frame.id === undefined || idKey(frame.id) !== key) continue
      this.#open.delete(frame)
      return
    }
  }

  remove(frame: ClientFrame): void {
    this.#open.delete(frame)
  }

  leave(frame: ClientFrame): void {
    const one = this.#open.get(frame)
    if (!one) return
    this.#open.delete(frame)
    this.#left.add(frame)
    one.leaving.abort()
  }
}
