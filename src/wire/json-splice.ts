/** Replaces the characters from `start` up to `end` by `text`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Applies the edits; all other characters stay unchanged. The edits must be in ascending order and not
 * overlap. Otherwise a `RangeError` is thrown, because a missing edit could leave a secret in the text.
 */
export function spliceText(text: string, edits: readonly TextEdit[]): string {
  if (edits.length === 0) return text
  const parts: string[] = []
  let kept = 0
  for (const { start, end, text: replacement } of edits) {
    if (!(start >= kept && end >= start && end <= text.length)) {
      throw new RangeError(`Edit ${start}..${end} overlaps the previous edit or exceeds the text`)
    }
    parts.push(text.slice(kept, start), replacement)
    kept = end
  }
  parts.push(text.slice(kept))
  return parts.join('')
}
