/** The fate of a frame: decided by rules, a person or the gate, recorded on the tape. */
export interface Decision {
  /**
   * `hold`: a person decides; `disconnect`: dropped, and its connection is closed. A dropped frame with `answers` is
   * answered in place of the other side.
   */
  readonly verdict: 'forward' | 'hold' | 'drop' | 'disconnect'
  /** Names of the applied rules, in order: the tape's `rule`. */
  readonly rule?: string | undefined
  /** Replacement: exact JSON text on one line. Undefined if nothing changed. */
  readonly text?: string | undefined
  /** For a batch that lost elements: original indexes of the remaining ones. */
  readonly kept?: readonly number[] | undefined
  /** Delay before the decision is carried out. 0 for none. */
  readonly delayMs: number
  /** Number of additional copies. */
  readonly copies: number
  /** JSON texts of responses to the sender: for the frame, or for batch elements that are not forwarded. */
  readonly answers: readonly string[]
  /** For people: why it is dropped, or replaced by an error. */
  readonly why?: string | undefined
}

/** Forwards a frame unchanged. */
export const unchanged: Decision = { verdict: 'forward', delayMs: 0, copies: 0, answers: [] }
