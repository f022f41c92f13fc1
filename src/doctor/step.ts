/** One thing that was looked at. */
export interface Step {
  readonly name: string
  /** `note` is worth knowing and no fault. */
  readonly state: 'ok' | 'note' | 'failed'
  /** What was found. */
  readonly found: string
  /** What to do; of failed steps, and of notes where there is something to do. */
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

/** What an error says, with the code that systems give. */
export function wordsOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (inner instanceof AggregateError && inner.errors.length > 0) return wordsOf(inner.errors[0])
  return inner instanceof Error ? inner.message || String(inner) : String(inner)
}
