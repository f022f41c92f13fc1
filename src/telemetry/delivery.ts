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

export interface Delivery {
  /** Never rejects. */
  deliver(body: Uint8Array): Promise<Delivered>
  /** Number of unsuccessful responses of the receiver, and of attempts without a response. */
  readonly refusals: number
  readonly attempts: number
  readonly lastTrouble: string | undefined
}

/** Retries as the specification of OTLP requires: after a doubling, randomized pause, or as the receiver asks. */
export function createDelivery(poster: Poster, closing: Closing): Delivery {
  let refusals = 0
  let attempts = 0
  let lastTrouble: string | undefined

  function timeLeft(): number {
    return closing.atMs === undefined ? Infinity : Math.max(0, closing.atMs - performance.now())
  }

  async function attempt(body: Uint8Array): Promise<Posted> {
    attempts += 1
    const posted = await answerOf(body)
    if (posted.kind !== 'taken') {
      refusals += 1
      lastTrouble = posted.why
    } else if (posted.rejected > 0) {
      refusals += 1
      lastTrouble = posted.why ?? 'the receiver rejected a part'
    }
    return posted
  }

  /** The end of a recording does not wait for a stuck receiver. */
  function answerOf(body: Uint8Array): Promise<Posted> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const settle = (posted: Posted): void => {
        clearTimeout(timer)
        closing.listeners.delete(limit)
        resolve(posted)
      }
      const limit = (): void => {
        const late = { kind: 'again', why: 'no response in time', isUnreachable: true } as const
        timer = setTimeout(() => settle(late), timeLeft())
      }
      if (closing.atMs === undefined) closing.listeners.add(limit)
      else limit()
      void poster.post(body).then(settle)
    })
  }

  async function deliver(body: Uint8Array): Promise<Delivered> {
    const untilMs = performance.now() + giveUpMs
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
      if (timeLeft() === 0) return { kind: 'left-out', why: lastTrouble ?? 'the recording ended' }
      const posted = await attempt(body)
      if (posted.kind === 'taken') return posted
      if (posted.kind === 'refused') return { kind: 'left-out', why: posted.why }
      const waitMs = posted.afterMs ?? pauseMs * (0.5 + Math.random() / 2)
      const isClosing = closing.atMs !== undefined
      // At the end, an unreachable receiver is not awaited.
      const isHopeless = isClosing && (posted.isUnreachable || waitMs > timeLeft())
      if (isHopeless || performance.now() + waitMs > untilMs) return { kind: 'left-out', why: posted.why }
      await pause(waitMs)
    }
  }

  /** Ends immediately when the recording ends. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer)
        closing.listeners.delete(over)
        resolve()
      }
      const timer = setTimeout(over, ms)
      if (closing.atMs === undefined) closing.listeners.add(over)
    })
  }

  return {
    deliver,
    get refusals() {
      return refusals
    },
    get attempts() {
      return attempts
    },
    get lastTrouble() {
      return lastTrouble
    },
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
