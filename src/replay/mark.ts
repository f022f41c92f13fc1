/** A redacted value in a message. */
export interface Mark {
  /** JSON Pointer into the message. */
  readonly at: string
  readonly tag: string
}
