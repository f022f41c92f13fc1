/** Puts `text` in the place of the characters from `start` up to `end`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * New text with the edits made; everything else keeps its exact characters. The edits must ascend and not
 * overlap: a `RangeError` says otherwise, since an edit left out could be a secret left in.
 */
export function spliceText(text: string, edits: readonly TextEdit[]): string {
  if (edits.length === 0) return text
  const parts: string[] = []
  let kept = 0
  for (const { start, end, text: replacement } of edits) {
    if (!(start >= kept && end >= start && end <= text.length)) {
      throw new RangeError(`Edit ${start}..${end} overlaps the one before it or leaves the text`)
    }
    parts.push(text.slice(kept, start), replacement)
    kept = end
  }
  parts.push(text.slice(kept))
  return parts.join('')
}
