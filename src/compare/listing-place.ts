/** Whose list an answer is, and what of it is not known. */
export interface ListingPlace {
  /** Number of the request. */
  readonly request: number
  readonly conversation?: string | undefined
  /** Number of the request for the first page, where it is known that this is another one. */
  readonly first?: number | undefined
  /** JSON Pointers into the answer, to what redaction took out. */
  readonly redacted?: readonly string[]
}
