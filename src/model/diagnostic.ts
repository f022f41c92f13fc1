/** Where in an input something was found. */
export interface Position {
  /** 1-based. */
  readonly line?: number
  /** 1-based, in UTF-16 code units. */
  readonly column?: number
}

/** A problem in somebody's input, as a value. One bad line costs one line. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  readonly code: string
  /** What is wrong, in words for a person; without the place, which is in `at`. */
  readonly message: string
  readonly at?: Position
}

/** Where readers and writers send what they find. */
export type Report = (diagnostic: Diagnostic) => void
