/** A text of a peer; anything else is none. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** An object of a peer; anything else has no members. */
export function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {}
}

/** A list of a peer; anything else is empty. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
