import { Flow } from './client/flow.js'
import type { ClientEvents, ClientFrame, Link } from './link.js'

/** A server's end of an in-memory link. */
export interface MemoryServer {
  /** @param via the frame to which this responds, as over HTTP */
  say(text: string, via?: ClientFrame): void
  /** The server is gone. */
  end(reason: string): void
}

/** A server's handlers. */
export interface MemoryPeer {
  take(frame: ClientFrame): Promise<void> | void
  close?(): Promise<void> | void
}

/** An in-memory link without bytes. Each end gets the messages of the other end in order. */
export function connectInMemory(events: ClientEvents, serve: (server: MemoryServer) => MemoryPeer): Link {
  return new MemoryLink(events, serve)
}

class MemoryLink implements Link {
  readonly #events: ClientEvents
  readonly #peer: MemoryPeer
  readonly #flow = new Flow()
  /** Resolves when all sent messages were delivered. */
  #heard: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(events: ClientEvents, serve: (server: MemoryServer) => MemoryPeer) {
    this.#events = events
    this.#peer = serve({
      say: (text, via) => this.#later(() => events.message(text, via)),
      end: (reason) => this.#later(() => this.#end(reason)),
    })
  }

  async send(frame: ClientFrame): Promise<void> {
    if (this.#isOver) {
      const reason = 'the server has ended'
      return this.#events.failed(frame, reason, { kind: 'broken', isUnsent: true })
    }
    await this.#peer.take(frame)
  }

  hold(wait: boolean): void {
    this.#flow.hold(wait)
  }

  async close(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#flow.hold(false)
    await this.#peer.close?.()
  }

  #later(tell: () => void): void {
    this.#heard = this.#heard
      .then(() => this.#flow.opened())
      .then(() => {
        if (!this.#isOver) tell()
      })
  }

  #end(reason: string): void {
    this.#isOver = true
    this.#events.ended(reason)
  }
}
