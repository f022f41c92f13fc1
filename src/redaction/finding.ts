import type { Span, TextEdit } from '../wire/index.js'
import { marker } from './marker.js'

/** A secret in a text, and the rule that found it. */
export interface Finding extends Span {
  readonly rule: string
}

/** Secrets that are redacted one by one in one message or line. With more, its whole text is redacted. */
export const mostMarks = 50_000

/** The rule for a value redacted as a whole because it holds more secrets. */
export const tooManyRule = 'too-many'

/** More secrets than `mostMarks`. Thrown through the finders, so that all of them stop. */
export class TooManyMarks extends Error {}

/** The list that finders add to; it accepts at most `mostMarks`. */
export class Findings extends Array<Finding> {
  override push(finding: Finding): number {
    if (this.length >= mostMarks) throw new TooManyMarks()
    return super.push(finding)
  }

  /** Derived arrays are plain ones. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}

/**
 * The secrets of one text, ascending and disjoint. Overlapping ones are merged under the rule of the first, so
 * that no part of either remains.
 */
export function separate(findings: Finding[]): Finding[] {
  if (findings.length < 2) return findings
  const sorted = findings.sort((a, b) => a.start - b.start || b.end - a.end)
  const apart: Finding[] = []
  for (const finding of sorted) {
    const last = apart.at(-1)
    if (last === undefined || finding.start >= last.end) apart.push(finding)
    else if (finding.end > last.end) apart[apart.length - 1] = { ...last, end: finding.end }
  }
  return apart
}

/** The edits that replace each secret with the marker. */
export function toEdits(findings: readonly Finding[]): TextEdit[] {
  return findings.map(({ start, end }) => ({ start, end, text: marker }))
}

/**
 * Positions in a JSON text of characters in one of its strings: `offsets` ascend and count in the decoded
 * string, `first` is the index after the opening quote.
 */
export function sourceOffsets(text: string, first: number, offsets: readonly number[]): number[] {
  let pos = first
  let decoded = 0
  let escape = -1
  return offsets.map((offset) => {
    while (decoded < offset) {
      if (escape < pos) {
        escape = text.indexOf('\\', pos)
        if (escape < 0) escape = text.length
      }
      const plain = Math.min(offset - decoded, escape - pos)
      pos += plain
      decoded += plain
      if (decoded === offset) break
      pos += text.charCodeAt(pos + 1) === 0x75 ? 6 : 2
      decoded++
    }
    return pos
  })
}
