/** A literal of at least three ASCII characters; fewer if `before` or `after` gives its surroundings. */
export interface Literal {
  readonly literal: string
  /** Case-sensitive. */
  readonly exact?: true
  /**
   * One of these characters precedes the literal wherever it begins at an odd index. A rare pair with one of them
   * avoids a frequent pair of the literal.
   */
  readonly before?: string
  /** One of these characters follows the literal. */
  readonly after?: string
  /** A character at this distance from the literal's beginning, which is checked first. */
  readonly beside?: { readonly at: number; readonly character: string }
}
