/** Place of a problem in an input. */
export interface Position {
  /** 1-based. */
  readonly line?: number
  /** 1-based, in UTF-16 code units. */
  readonly column?: number
}

/** A problem in a user's input, as a value. One bad line costs one line. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  readonly code: string
  /** The problem in words for a person; without the place, which is in `at`. */
  readonly message: string
  readonly at?: Position
}

/** Receives the problems that readers and writers find. */
export type Report = (diagnostic: Diagnostic) => void
