/** Why a text is no filter. */
export interface FilterFault {
  /** 1-based, in UTF-16 code units. */
  readonly column: number
  /** Code units that are wrong; at least 1, also at the end of the text. */
  readonly length: number
  /** What is wrong and what was expected, without the place. */
  readonly message: string
}

/** Thrown, and caught, inside the folder. */
export class FilterProblem extends Error {
  /** 0-based. */
  readonly start: number
  readonly end: number

  constructor(start: number, end: number, message: string) {
    super(message)
    this.start = start
    this.end = end
  }

  toFault(): FilterFault {
    return { column: this.start + 1, length: Math.max(1, this.end - this.start), message: this.message }
  }
}
