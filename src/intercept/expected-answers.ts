import { opposite, type Direction, type Envelope } from '../model/index.js'
import { requestKey } from './exchange-key.js'
import { idInUse } from './fault.js'

/** Limit of abandoned injected requests; their late responses are dropped. */
const mostAbandoned = 1_024

/** A pending response to an injected request. */
export interface Expectation {
  cancel(): void
  /** Stops waiting; a late response is dropped. */
  abandon(): void
}

/** Progress of an injected request. */
export interface ExpectedProgress {
  /** Key of the progress token. */
  readonly key: string
  readonly made: () => void
}

/** Responses to injected requests, by the key of the request. */
export class ExpectedAnswers {
  readonly #expected = new Map<string, (text: string) => void>()
  /** From the key of a progress token to the key of its request. */
  readonly #tokens = new Map<string, string>()
  /** Called on progress of a request, by the key of the request. */
  readonly #onProgress = new Map<string, () => void>()
  /** Requests no longer waited for; their late responses are dropped. */
  readonly #abandoned = new Set<string>()
  readonly #onFree: (key: string) => void

  /** @param onFree called with a key that is free for other requests again */
  constructor(onFree: (key: string) => void) {
    this.#onFree = onFree
  }

  get isEmpty(): boolean {
    return this.#expected.size + this.#abandoned.size === 0
  }

  /** Whether the response is awaited. */
  has(key: string): boolean {
    return this.#expected.has(key)
  }

  /**
   * Passes the response to `take` only.
   *
   * @param progress the key of the request's progress token, and a callback for its progress
   * @throws GateFault if the response of an abandoned request with this key may still arrive
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
        // Progress may still arrive until the response has.
        for (const [token] of tokens) this.#tokens.set(token, key)
        if (this.#abandoned.size >= mostAbandoned) this.#giveUpOne(this.#abandoned.values().next().value!)
        this.#abandoned.add(key)
      },
    }
  }

  /** Takes an arrived response. @returns its receiver; undefined if the request was not injected */
  take(key: string): ((text: string) => void) | undefined {
    const take = this.#expected.get(key)
    if (take) {
      this.#expected.delete(key)
      this.#forget(key)
      return take
    }
    return this.#giveUpOne(key) ? () => undefined : undefined
  }

  /** @returns whether the message is progress of an injected request */
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

  /** A peer reuses the id of an abandoned request: the next response may be the peer's. */
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
