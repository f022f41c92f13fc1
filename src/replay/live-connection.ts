import { createRecent, type Envelope } from '../model/index.js'
import type { ClientConnection, ClientEvents, ClientFrame } from '../link/index.js'
import { idKey, isFault, messagesOf, readMessages, type Message } from '../wire/index.js'

/** Why there is no response. */
export interface NoAnswer {
  readonly error: string
  /** The request was not sent, because the server was gone. */
  readonly isUnsent?: boolean
}

/** A request that was sent and awaits its response. */
export interface Pending {
  readonly frame: ClientFrame
  /** Takes the response, or why there will be none. Called once. */
  settle(result: { readonly text: string; readonly envelope: Envelope } | NoAnswer): void
}

/** The request was already answered, was given up, or was never made. */
export type Stray = 'again' | 'late' | 'unasked'

export interface LiveEvents {
  /** A request of the server. */
  question(text: string, envelope: Envelope): void
  notification(method: string, text: string): void
  /** Output that is not a message. */
  noise(text: string): void
  /** A response that no request awaits. */
  stray(id: string, why: Stray): void
  /** A response without an id, which could belong to any request. */
  nameless(text: string): void
  ended(reason: string): void
}

export type Connect = (
  events: ClientEvents,
  opening: Opening,
) => Promise<ClientConnection | { readonly error: string }>

/** The limits on waiting for a connection to open. */
export interface Opening {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const mostMethods = 1_000

const strays = { answered: 'again', 'given up': 'late' } as const

/** Opens a connection and reads its messages. */
export async function openLive(
  connect: Connect,
  opening: Opening,
  events: LiveEvents,
): Promise<LiveConnection | { readonly error: string }> {
  const live = new LiveConnection(events)
  const connection = await connect(live.heard, opening)
  if ('error' in connection) return connection
  live.connection = connection
  return live
}

/** One live connection with its pending requests. */
export class LiveConnection {
  readonly #events: LiveEvents
  /** Set once it is open. */
  connection: ClientConnection | undefined
  /** By id, in the order of sending: over HTTP several clients may share a connection, and ids. */
  readonly #pending = new Map<string, Pending[]>()
  /** Why the most recent requests that are no longer awaited ended. */
  readonly #settled = createRecent<'answered' | 'given up'>({ entries: 4096 })
  readonly #notified = new Map<string, number>()
  readonly #refusals = new WeakMap<ClientFrame, string>()
  #ended: string | undefined
  /** Events of the connection. */
  readonly heard: ClientEvents

  constructor(events: LiveEvents) {
    this.#events = events
    this.heard = {
      message: (text, via) => {
        const frame = readMessages(text)
        if (isFault(frame)) this.#events.noise(text)
        else for (const message of messagesOf(frame)) this.#take(message, via)
      },
      failed: (frame, reason, { isUnsent = false }) => {
        if (frame.requests === 0) this.#refusals.set(frame, reason)
        for (const asked of this.#waitingIn(frame))
          this.#settle(...asked, { error: `Read failed: ${reason}`, isUnsent })
      },
      ended: (reason) => {
        this.#ended ??= reason
        for (const asked of this.#allWaiting()) this.#settle(...asked, { error: `Read failed: ${reason}` })
        this.#events.ended(reason)
      },
    }
  }

  /** Why a frame that awaits no response was refused; known once it is sent. */
  refusalOf(frame: ClientFrame): string | undefined {
    return this.#refusals.get(frame)
  }

  /** Why the connection ended. */
  get ended(): string | undefined {
    return this.#ended
  }

  expect(id: string, waiting: Pending): void {
    const all = this.#pending.get(idKey(id))
    if (all) all.push(waiting)
    else this.#pending.set(idKey(id), [waiting])
  }

  /** Number of notifications received for a method. */
  notified(method: string): number {
    return this.#notified.get(method) ?? 0
  }

  /** A request with this id was given up, and its response may still come. */
  isOwed(id: string): boolean {
    return this.#settled.get(idKey(id)) === 'given up'
  }

  /** Stops waiting; a later response is a stray one. */
  forget(id: string, waiting: Pending): void {
    if (this.#remove(idKey(id), waiting)) this.#settled.set(idKey(id), 'given up')
  }

  send(frame: ClientFrame): Promise<void> {
    return this.connection!.send(frame)
  }

  close(): Promise<void> {
    return this.connection!.close()
  }

  /** Stops waiting for a response. False if it was not awaited. */
  #remove(key: string, waiting: Pending): boolean {
    const all = this.#pending.get(key) ?? []
    const at = all.indexOf(waiting)
    if (at >= 0) all.splice(at, 1)
    if (all.length === 0) this.#pending.delete(key)
    return at >= 0
  }

  #settle(key: string, waiting: Pending, result: Parameters<Pending['settle']>[0]): void {
    if (this.#remove(key, waiting)) waiting.settle(result)
  }

  #notify(method: string, text: string): void {
    // Method names come from the server and may be many.
    if (this.#notified.size < mostMethods || this.#notified.has(method))
      this.#notified.set(method, (this.#notified.get(method) ?? 0) + 1)
    this.#events.notification(method, text)
  }

  #take({ text: message, envelope }: Message, via: ClientFrame | undefined): void {
    if (envelope.kind === 'request') return this.#events.question(message, envelope)
    if (envelope.kind === 'invalid') return this.#events.noise(message)
    if (envelope.kind === 'notification') return this.#notify(envelope.method ?? '', message)
    if (envelope.kind !== 'result' && envelope.kind !== 'error') return
    const id = envelope.id === undefined || envelope.id === 'null' ? undefined : idKey(envelope.id)
    if (id !== undefined) {
      const waiting = this.#waitingFor(id, via)
      if (waiting) {
        if (this.#settled.get(id) !== 'given up') this.#settled.set(id, 'answered')
        return this.#settle(id, waiting, { text: message, envelope })
      }
      const before = this.#settled.get(id)
      if (before === 'given up') this.#settled.set(id, 'answered')
      return this.#events.stray(envelope.id!, before === undefined ? 'unasked' : strays[before])
    }
    // An error without an id belongs to the request of its own HTTP response.
    const [asked, ...more] = via ? this.#waitingIn(via) : []
    if (asked && more.length === 0) this.#settle(...asked, { text: message, envelope })
    else this.#events.nameless(message)
  }

  /** The HTTP response to another request may bring a late response under the same id. */
  #waitingFor(id: string, via: ClientFrame | undefined): Pending | undefined {
    const all = this.#pending.get(id) ?? []
    return via === undefined || via.requests === 0 ? all[0] : all.find(({ frame }) => frame === via)
  }

  #waitingIn(frame: ClientFrame): (readonly [key: string, waiting: Pending])[] {
    return this.#allWaiting().filter(([, waiting]) => waiting.frame === frame)
  }

  #allWaiting(): (readonly [key: string, waiting: Pending])[] {
    return [...this.#pending].flatMap(([key, all]) => all.map((waiting) => [key, waiting] as const))
  }
}

/**
 * Sends a request and waits for its response.
 *
 * @param id exact text of the request's id
 * @param signal ends the waiting
 */
export function askLive(
  live: LiveConnection,
  frame: ClientFrame,
  id: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Parameters<Pending['settle']>[0]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      live.forget(id, pending)
      pending.settle({ error: `no response within ${timeoutMs / 1000} s` })
    }, timeoutMs)
    const cancel = (): void => {
      live.forget(id, pending)
      pending.settle({ error: 'it was cancelled' })
    }
    const pending: Pending = {
      frame,
      settle(result) {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        resolve(result)
      },
    }
    if (signal?.aborted) return pending.settle({ error: 'it was cancelled' })
    signal?.addEventListener('abort', cancel)
    live.expect(id, pending)
    live.send(frame).catch(reject)
  })
}
