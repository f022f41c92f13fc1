/** Why a path or a pattern that somebody wrote cannot be used. */
export class QueryFault extends Error {
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
