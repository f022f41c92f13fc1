import type { Span, TextEdit } from '../wire/index.js'
import { marker } from './marker.js'

/** A secret in a text, and the rule that found it. */
export interface Finding extends Span {
  readonly rule: string
}

/** Secrets that are taken out of one message or line one by one. Beyond that, it loses all of its text. */
export const mostMarks = 50_000

/** The rule under which a value goes whole because it holds more. */
export const tooManyRule = 'too-many'

/** There are more secrets than `mostMarks`. Thrown through the finders, so that none of them goes on. */
export class TooManyMarks extends Error {}

/** What the finders add to: it takes so many and no more. */
export class Findings extends Array<Finding> {
  override push(finding: Finding): number {
    if (this.length >= mostMarks) throw new TooManyMarks()
    return super.push(finding)
  }

  /** What is made of it is a plain array. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}

/**
 * The secrets of one text, ascending and apart from one another: what overlaps becomes one, under the rule that
 * began it, so that nothing of either is left standing.
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

/** The edits that put the marker in the place of each. */
export function toEdits(findings: readonly Finding[]): TextEdit[] {
  return findings.map(({ start, end }) => ({ start, end, text: marker }))
}

/**
 * Where in a JSON text the characters of one of its strings stand: `offsets` ascend and count in the decoded
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
