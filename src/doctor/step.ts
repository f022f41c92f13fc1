/** One check and its result. */
export interface Step {
  readonly name: string
  /** `note` is information, not a failure. */
  readonly state: 'ok' | 'note' | 'failed'
  /** Result in words. */
  readonly found: string
  /** Next step for the user: for failed steps, and for notes if any. */
  readonly advice?: string
}

export function ok(name: string, found: string): Step {
  return { name, state: 'ok', found }
}

export function note(name: string, found: string, advice?: string): Step {
  return { name, state: 'note', found, ...(advice !== undefined && { advice }) }
}

export function failed(name: string, found: string, advice: string): Step {
  return { name, state: 'failed', found, advice }
}

/** Message of an error, with its system code. */
export function wordsOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (inner instanceof AggregateError && inner.errors.length > 0) return wordsOf(inner.errors[0])
  return inner instanceof Error ? inner.message || String(inner) : String(inner)
}
