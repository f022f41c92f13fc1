import type { Posted, Poster } from './post.js'

/** How long one request is retried before its data is left out. */
const giveUpMs = 60_000
const firstPauseMs = 500
const longestPauseMs = 10_000

/** The end of a recording, which limits all waiting. */
export interface Closing {
  /** By `performance.now()`; undefined while the end is unknown. */
  readonly atMs: number | undefined
  /** Called when the end becomes known. */
  readonly listeners: Set<() => void>
}

/** The outcome of a request after all attempts. */
export type Delivered =
  | { readonly kind: 'taken'; readonly rejected: number; readonly why?: string }
  | { readonly kind: 'left-out'; readonly why: string }

/** Retries as the specification of OTLP requires: after a doubling, randomized pause, or as the receiver asks. */
export class Delivery {
  readonly #poster: Poster
  readonly #closing: Closing
  #refusals = 0
  #attempts = 0
  #lastTrouble: string | undefined

  constructor(poster: Poster, closing: Closing) {
    this.#poster = poster
    this.#closing = closing
  }

  /** Never rejects. */
  async deliver(body: Uint8Array): Promise<Delivered> {
    const untilMs = performance.now() + giveUpMs
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
      if (this.#timeLeft() === 0) return { kind: 'left-out', why: this.#lastTrouble ?? 'the recording ended' }
      const posted = await this.#attempt(body)
      if (posted.kind === 'taken') return posted
      if (posted.kind === 'refused') return { kind: 'left-out', why: posted.why }
      const waitMs = posted.afterMs ?? pauseMs * (0.5 + Math.random() / 2)
      const isClosing = this.#closing.atMs !== undefined
      // At the end, an unreachable receiver is not awaited.
      const isHopeless = isClosing && (posted.isUnreachable || waitMs > this.#timeLeft())
      if (isHopeless || performance.now() + waitMs > untilMs) return { kind: 'left-out', why: posted.why }
      await this.#pause(waitMs)
    }
  }

  /** Number of unsuccessful responses of the receiver, and of attempts without a response. */
  get refusals(): number {
    return this.#refusals
  }

  get attempts(): number {
    return this.#attempts
  }

  get lastTrouble(): string | undefined {
    return this.#lastTrouble
  }

  #timeLeft(): number {
    return this.#closing.atMs === undefined ? Infinity : Math.max(0, this.#closing.atMs - performance.now())
  }

  async #attempt(body: Uint8Array): Promise<Posted> {
    this.#attempts += 1
    const posted = await this.#answerOf(body)
    if (posted.kind !== 'taken') {
      this.#refusals += 1
      this.#lastTrouble = posted.why
    } else if (posted.rejected > 0) {
      this.#refusals += 1
      this.#lastTrouble = posted.why ?? 'the receiver rejected a part'
    }
    return posted
  }

  /** The end of a recording does not wait for a stuck receiver. */
  #answerOf(body: Uint8Array): Promise<Posted> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const settle = (posted: Posted): void => {
        clearTimeout(timer)
        this.#closing.listeners.delete(limit)
        resolve(posted)
      }
      const limit = (): void => {
        const late = { kind: 'again', why: 'no response in time', isUnreachable: true } as const
        timer = setTimeout(() => settle(late), this.#timeLeft())
      }
      if (this.#closing.atMs === undefined) this.#closing.listeners.add(limit)
      else limit()
      void this.#poster.post(body).then(settle)
    })
  }

  /** Ends immediately when the recording ends. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer)
        this.#closing.listeners.delete(over)
        resolve()
      }
      const timer = setTimeout(over, ms)
      if (this.#closing.atMs === undefined) this.#closing.listeners.add(over)
    })
  }
}

/** The end can be set once. */
export function createClosing(): Closing & { set(atMs: number): void } {
  const listeners = new Set<() => void>()
  let atMs: number | undefined
  return {
    listeners,
    get atMs() {
      return atMs
    },
    set(to) {
      if (atMs !== undefined) return
      atMs = to
      for (const listener of listeners) listener()
      listeners.clear()
    },
  }
}
