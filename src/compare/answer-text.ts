/** An answer as far as it is compared. */
export interface AnswerText {
  /** Exact text of the message. */
  readonly text: string
  /** JSON Pointers into it, to what redaction took out. */
  readonly redacted?: readonly string[]
}
