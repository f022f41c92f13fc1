/** Thrown, and caught, inside the folder: why a rule cannot be made. */
export class RuleFault extends Error {
  /** What to do about it. */
  readonly advice: string
  /** 1-based, in the pattern or path. */
  readonly column: number | undefined

  constructor(what: string, advice: string, column?: number) {
    super(what)
    this.advice = advice
    this.column = column
  }
}
