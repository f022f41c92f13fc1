/** A request that was sent again, and its response. */
export interface Again {
  readonly sent: string
  /** Undefined while awaited. */
  readonly answer?: string
  readonly before: string | undefined
  readonly latencyMs?: number
  readonly fault?: string
}
