import { redactionMarker } from '../redaction/index.js'
import {
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  membersOf,
  spliceText,
  type TextEdit,
  pointerStep,
} from '../wire/index.js'
import type { Mark } from './mark.js'

/** A value given with `--set` and the recorded one in its place. Both as texts: strings without quotes. */
export interface GivenValue {
  readonly value: string
  readonly recorded: string
  /** Tag of the value redacted there. */
  readonly tag?: string
}

/** Shorter values occur within too many strings: only whole values count. */
const shortestPart = 4
const deepest = 256

/**
 * A response without the values given with `--set`: where it repeats one, the recorded value replaces it, also within
 * strings and names, and in JSON inside a string.
 */
export function withoutGiven(
  text: string,
  given: readonly GivenValue[],
): { readonly text: string; readonly marks: readonly Mark[] } {
  const found = findJsonValue(text)
  if (given.length === 0 || isFault(found)) return { text, marks: [] }
  // Longer values first: one may contain another.
  const sorted = given.toSorted((a, b) => b.value.length - a.value.length)
  const edits: TextEdit[] = []
  const marks: Mark[] = []

  function string(start: number, end: number, at: string | undefined): void {
    const before = decodeString(text, start, end)
    let after = before
    for (const { value, recorded, tag } of sorted) {
      if (value.length < shortestPart && after !== value) continue
      const changed = spellings(value).reduce(
        (all, spelled) => all.replaceAll(spelled, () => recorded),
        after,
      )
      if (changed !== after && tag !== undefined && at !== undefined) marks.push({ at, tag })
      after = changed
    }
    if (after !== before) edits.push({ start, end, text: JSON.stringify(after) })
  }

  function scalar(start: number, end: number, at: string): void {
    const same = sorted.find(({ value }) => value === text.slice(start, end))
    if (same?.tag === undefined) return
    marks.push({ at, tag: same.tag })
    edits.push({ start, end, text: JSON.stringify(redactionMarker) })
  }

  function visit(start: number, end: number, at: string, depth: number): void {
    const kind = kindAt(text, start)
    if (kind === 'string') string(start, end, at)
    else if (kind === 'number') scalar(start, end, at)
    else if (depth === deepest) return
    else if (kind === 'array')
      for (const [i, element] of elementsOf(text, start).entries())
        visit(element.start, element.end, `${at}/${i}`, depth + 1)
    else if (kind === 'object')
      for (const { name, nameStart, nameEnd, start: from, end: to } of membersOf(text, start)) {
        string(nameStart, nameEnd, undefined)
        visit(from, to, at + pointerStep(name), depth + 1)
      }
  }

  visit(found.start, found.end, '', 0)
  return {
    text: spliceText(
      text,
      edits.toSorted((a, b) => a.start - b.start),
    ),
    marks,
  }
}

/** The value as it is, and escaped as in JSON inside a string. */
function spellings(value: string): readonly string[] {
  const quoted = JSON.stringify(value).slice(1, -1)
  return quoted === value || value.length < shortestPart ? [value] : [value, quoted]
}
