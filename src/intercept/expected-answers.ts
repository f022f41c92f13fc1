import type { Direction, Envelope } from '../model/index.js'
import { requestKey } from './exchange-key.js'
import { idInUse } from './fault.js'

/** Injected requests whose late answers are remembered. */
const mostAbandoned = 1_024

/** The answer to an injected request is waited for. */
export interface Expectation {
  cancel(): void
  /** Nobody waits for it any longer; when it comes, it goes nowhere. */
  abandon(): void
}

/** Answers that are ours: their requests were injected. By the key of the request. */
export class ExpectedAnswers {
  readonly #expected = new Map<string, (text: string) => void>()
  /** Nobody waits for them any longer: when they come, they are nobody's. */
  readonly #abandoned = new Set<string>()
  readonly #onFree: (key: string) => void

  /** @param onFree called with a key that others may use again */
  constructor(onFree: (key: string) => void) {
    this.#onFree = onFree
  }

  get isEmpty(): boolean {
    return this.#expected.size + this.#abandoned.size === 0
  }

  /** Somebody waits for it. */
  has(key: string): boolean {
    return this.#expected.has(key)
  }

  /**
   * The answer is given to `take`, and to nobody else.
   *
   * @throws GateFault when one that nobody waits for any longer may still come
   */
  expect(key: string, take: (text: string) => void): Expectation {
    if (this.#expected.has(key) || this.#abandoned.has(key)) throw idInUse()
    this.#expected.set(key, take)
    const cancel = (): boolean => {
      if (this.#expected.get(key) !== take) return false
      this.#expected.delete(key)
      this.#onFree(key)
      return true
    }
    return {
      cancel: () => void cancel(),
      abandon: () => {
        if (!cancel()) return
        if (this.#abandoned.size >= mostAbandoned)
          this.#abandoned.delete(this.#abandoned.values().next().value!)
        this.#abandoned.add(key)
      },
    }
  }

  /** The answer came. @returns whom it is for; undefined when it is not ours */
  take(key: string): ((text: string) => void) | undefined {
    const take = this.#expected.get(key)
    if (take) {
      this.#expected.delete(key)
      return take
    }
    return this.#abandoned.delete(key) ? () => undefined : undefined
  }

  /** A peer takes an id that we had given up: the answer under it may be the peer's. */
  giveUp(
    requests: readonly { readonly envelope: Envelope }[],
    conversation: string,
    direction: Direction,
  ): void {
    if (this.#abandoned.size === 0) return
    for (const { envelope } of requests) {
      if (envelope.kind === 'request' && envelope.id !== undefined)
        this.#abandoned.delete(requestKey(conversation, direction, envelope.id))
    }
  }
}
