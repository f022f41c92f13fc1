/** Request and conversation of a list response, and its redacted parts. */
export interface ListingPlace {
  /** Number of the request. */
  readonly request: number
  readonly conversation?: string | undefined
  /** Number of the request for the first page, if this is known to be a further page. */
  readonly first?: number | undefined
  /** JSON Pointers to redacted values in the response. */
  readonly redacted?: readonly string[]
}
