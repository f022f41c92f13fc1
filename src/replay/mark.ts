/** A value that redaction took out of a message. */
export interface Mark {
  /** JSON Pointer into the message. */
  readonly at: string
  readonly tag: string
}
