import { pointerSteps, spliceText, valueAt, type TextEdit } from '../wire/index.js'

/** A JSON value that something was redacted in. */
export interface PartlyHidden {
  /** Exact text. */
  readonly text: string
  /** JSON Pointers into it, to what redaction took out. */
  readonly redacted: readonly string[]
}

export const nothingHidden: readonly string[] = []

/** JSON Pointers that lead to a place or below it, from there on. */
export function pointersBelow(redacted: readonly string[] | undefined, place: string): readonly string[] {
  if (!redacted || redacted.length === 0) return nothingHidden
  return redacted
    .filter((at) => at === place || at.startsWith(`${place}/`))
    .map((at) => at.slice(place.length))
}

/**
 * Two values with the same text wherever one of them was redacted: nobody knows what stood there. A place that only one
 * of them has stays as it is.
 */
export function alikeWhereHidden(before: PartlyHidden, after: PartlyHidden): [before: string, after: string] {
  const [old, now]: TextEdit[][] = [[], []]
  for (const at of new Set([...before.redacted, ...after.redacted])) {
    const steps = pointerSteps(at)
    const [a, b] = [valueAt(before.text, 0, steps), valueAt(after.text, 0, steps)]
    if (!a || !b) continue
    old!.push({ start: a.start, end: a.end, text: '"…"' })
    now!.push({ start: b.start, end: b.end, text: '"…"' })
  }
  return [spliced(before.text, old!), spliced(after.text, now!)]
}

function spliced(text: string, edits: TextEdit[]): string {
  if (edits.length === 0) return text
  return spliceText(
    text,
    edits.toSorted((a, b) => a.start - b.start),
  )
}
