/** What was sent again, and what came of it. */
export interface Again {
  readonly sent: string
  /** Undefined while it is awaited. */
  readonly answer?: string
  readonly before: string | undefined
  readonly latencyMs?: number
  readonly fault?: string
}
