/** Error codes for programs. Documented in docs/errors.md. */
export type ErrorCode =
  /** The input is no recording in a supported format. */
  | 'not-a-recording'
  /** The input declares an unsupported version. */
  | 'unsupported-version'
  /** A file or folder cannot be read. */
  | 'unreadable'
  /** A file or folder cannot be written. */
  | 'unwritable'
  /** No such live capture exists, or it cannot be attached to. */
  | 'no-capture'
  /** A fleet store does not respond, or only with failures: a retry may succeed. */
  | 'unreachable'
  /** A fleet store refused the operation: credentials, permissions, missing bucket. */
  | 'refused'
  /** The command line or an option is invalid. */
  | 'usage'

/** A failure of wiretape or of its input, as one line for a person. */
export class WiretapeError extends Error {
  override readonly name = 'WiretapeError'
  readonly code: ErrorCode
  /** The next step for the user. */
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}
