import { opposite, type Direction, type Envelope } from '../model/index.js'
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

/** Progress of an injected request. */
export interface ExpectedProgress {
  /** Of its token. */
  readonly key: string
  readonly made: () => void
}

/** Answers that are ours: their requests were injected. By the key of the request. */
export class ExpectedAnswers {
  readonly #expected = new Map<string, (text: string) => void>()
  /** By the key of a request's progress token: the key of the request. */
  readonly #tokens = new Map<string, string>()
  /** Called when a request makes progress. By the key of the request. */
  readonly #onProgress = new Map<string, () => void>()
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
   * @param progress the key of the request's progress token, and what is called when the request makes progress
   * @throws GateFault when one that nobody waits for any longer may still come
   */
  expect(key: string, take: (text: string) => void, progress?: ExpectedProgress): Expectation {
    if (this.#expected.has(key) || this.#abandoned.has(key)) throw idInUse()
    this.#expected.set(key, take)
    if (progress) {
      this.#tokens.set(progress.key, key)
      this.#onProgress.set(key, progress.made)
    }
    const cancel = (): boolean => {
      if (this.#expected.get(key) !== take) return false
      this.#expected.delete(key)
      this.#forget(key)
      this.#onFree(key)
      return true
    }
    return {
      cancel: () => void cancel(),
      abandon: () => {
        const tokens = [...this.#tokens].filter(([, request]) => request === key)
        if (!cancel()) return
        // Progress may still come, too, until the answer has.
        for (const [token] of tokens) this.#tokens.set(token, key)
        if (this.#abandoned.size >= mostAbandoned) this.#giveUpOne(this.#abandoned.values().next().value!)
        this.#abandoned.add(key)
      },
    }
  }

  /** The answer came. @returns whom it is for; undefined when it is not ours */
  take(key: string): ((text: string) => void) | undefined {
    const take = this.#expected.get(key)
    if (take) {
      this.#expected.delete(key)
      this.#forget(key)
      return take
    }
    return this.#giveUpOne(key) ? () => undefined : undefined
  }

  /** @returns whether a message tells the progress of an injected request */
  takeProgress(
    { conversation, direction }: { readonly conversation: string; readonly direction: Direction },
    { method, progressToken }: Envelope,
  ): boolean {
    if (method !== 'notifications/progress' || progressToken === undefined) return false
    const request = this.#tokens.get(requestKey(conversation, opposite(direction), progressToken))
    if (request === undefined) return false
    this.#onProgress.get(request)?.()
    return true
  }

  #giveUpOne(key: string): boolean {
    if (!this.#abandoned.delete(key)) return false
    this.#forget(key)
    return true
  }

  #forget(key: string): void {
    this.#onProgress.delete(key)
    for (const [token, request] of this.#tokens) if (request === key) this.#tokens.delete(token)
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
        this.#giveUpOne(requestKey(conversation, direction, envelope.id))
    }
  }
}
