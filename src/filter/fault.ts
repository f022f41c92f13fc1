/** Why a text is not a valid filter. */
export interface FilterFault {
  /** 1-based, in UTF-16 code units. */
  readonly column: number
  /** Length of the invalid part in code units; at least 1, even at the end of the text. */
  readonly length: number
  /** The problem and the expected form, without the position. */
  readonly message: string
}

/** Thrown and caught within the folder. */
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
