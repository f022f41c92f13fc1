import { pointerSteps, spliceText, valueAt, type TextEdit } from '../wire/index.js'

/** A JSON value with redacted parts. */
export interface PartlyHidden {
  /** Exact text. */
  readonly text: string
  /** JSON Pointers to redacted values in it. */
  readonly redacted: readonly string[]
}

export const nothingHidden: readonly string[] = []

/** The JSON Pointers at or below a place, relative to it. */
export function pointersBelow(redacted: readonly string[] | undefined, place: string): readonly string[] {
  if (!redacted || redacted.length === 0) return nothingHidden
  return redacted
    .filter((at) => at === place || at.startsWith(`${place}/`))
    .map((at) => at.slice(place.length))
}

/**
 * Makes two values equal wherever either is redacted: the original values are unknown. A place that only one of them
 * has is kept.
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
