/** The reason why a user's path or pattern is invalid. */
export class QueryFault extends Error {
  /** The next step for the user. */
  readonly advice: string
  /** 1-based, in the pattern or path. */
  readonly column: number | undefined

  constructor(what: string, advice: string, column?: number) {
    super(what)
    this.advice = advice
    this.column = column
  }
}
