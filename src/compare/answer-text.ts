/** A response, as it is compared. */
export interface AnswerText {
  /** Exact text of the message. */
  readonly text: string
  /** JSON Pointers to redacted values in it. */
  readonly redacted?: readonly string[]
}
