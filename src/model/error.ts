/** What went wrong, for programs. Documented in docs/errors.md. */
export type ErrorCode =
  /** The input is no recording of a format we read. */
  | 'not-a-recording'
  /** The input says a version that we do not read. */
  | 'unsupported-version'
  /** A file or folder cannot be read. */
  | 'unreadable'
  /** A file or folder cannot be written. */
  | 'unwritable'
  /** There is no such live capture, or it cannot be attached to. */
  | 'no-capture'
  /** A store of a fleet does not answer, or only with failures: worth another attempt. */
  | 'unreachable'
  /** A store of a fleet answers that this may not be done: credentials, permissions, no such bucket. */
  | 'refused'
  /** The command line or an option makes no sense. */
  | 'usage'

/** A failure of ours or of what we were given, as one line for a person. */
export class WiretapeError extends Error {
  override readonly name = 'WiretapeError'
  readonly code: ErrorCode
  /** What to do about it. */
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}
