import { spliceText, type Span } from '../wire/index.js'
import { findAssignments } from './assignments.js'
import { Findings, separate, toEdits, tooManyRule, TooManyMarks, type Finding } from './finding.js'
import { findFlags } from './flags.js'
import { marker } from './marker.js'
import { findInCalls, findInMarkup, findInMultipart } from './markup.js'
import { findInLines } from './tables.js'
import { findTrigger, hasTrigger } from './trigger.js'
import { findValuePatterns } from './value-patterns.js'

/** A user's rule for text. Its running time is bounded. */
export interface TextRule {
  readonly kind: 'text'
  /** For the report; never the pattern, which may contain the secret itself. */
  readonly name: string
  /** Spans to redact: ascending, disjoint, not empty. */
  find(text: string): readonly Span[]
}

/**
 * The kind of a text. `words`: a log's or a person's, where every `name=value` counts. `message`: a string in a
 * message, which may be code or prose. `documentation`: only values with a vendor's unmistakable shape are secrets.
 */
export type TextKind = 'words' | 'message' | 'documentation'

/** Shorter texts are read as a whole. */
const shortText = 4096
/** Tags, names, commands and rows begin at most this far before a trigger, extended to the beginning of a line. */
const reachBack = 2048
/** The secret begins at most so far after its trigger. */
const reachAhead = 512
/** With more regions, a text is read to its end: in each, the end of a secret may have to be searched anywhere. */
const mostRegions = 8

/** The parts of a text that the default rules must read: around triggers. Ascending and disjoint. */
function regionsOf(text: string): Span[] {
  const all = [{ start: 0, end: text.length }]
  if (text.length < shortText) return all
  // These affect members and lines anywhere in the text.
  if (text.includes('"kty') || (text.includes('Secret') && manifest.test(text))) return all
  const regions: { start: number; end: number }[] = []
  let end = 0
  for (let at = findTrigger(text, 0); at >= 0; at = findTrigger(text, end - reachAhead / 2)) {
    const line = text.slice(end, Math.max(end, at - reachBack)).lastIndexOf('\n')
    const last = regions.at(-1)
    const isLast = at + reachAhead >= text.length || (line >= 0 && regions.length >= mostRegions)
    const start = end + line + 1
    end = isLast ? text.length : at + reachAhead
    if (last !== undefined && line < 0) last.end = end
    else regions.push({ start, end })
    if (isLast) break
  }
  return regions
}

const manifest = /kind\\?"?\s{0,4}:\s{0,4}\\?"?Secret\b/

/** Adds the secrets that begin before `until`. */
function findDefaults(text: string, until: number, kind: TextKind, found: Finding[]): void {
  findValuePatterns(text, until, found, kind === 'documentation')
  if (kind === 'documentation') return
  const broad = kind === 'words'
  findAssignments(text, until, broad, found)
  findFlags(text, until, broad, found)
  findInMarkup(text, until, found)
  findInMultipart(text, found)
  findInCalls(text, until, found)
  findInLines(text, until, broad, found)
}

/** Finds the secrets of plain, decoded text. */
export class TextRedactor {
  readonly #defaults: boolean
  readonly #rules: readonly TextRule[]

  constructor(defaults: boolean, rules: readonly TextRule[]) {
    this.#defaults = defaults
    this.#rules = rules
  }

  /** Whether there are rules besides those with triggers. */
  get hasRules(): boolean {
    return this.#rules.length > 0
  }

  /**
   * The secrets in `text`, ascending and disjoint. `suspicious`: the default rules apply, as decided by hasTrigger.
   * `counted` gets the rule of each. Throws TooManyMarks.
   */
  find(
    text: string,
    suspicious: boolean,
    kind: TextKind,
    counted: (rule: string) => void,
  ): readonly Finding[] {
    const found = new Findings()
    if (suspicious) {
      for (const { start: from, end: until } of regionsOf(text)) {
        const first = found.length
        findDefaults(from === 0 ? text : text.slice(from), until - from, kind, found)
        if (from === 0) continue
        for (let i = first; i < found.length; i++) {
          const { start, end, rule } = found[i]!
          found[i] = { start: start + from, end: end + from, rule }
        }
      }
    }
    for (const rule of this.#rules) {
      for (const { start, end } of rule.find(text)) found.push({ start, end, rule: rule.name })
    }
    const apart = separate(found)
    for (const { rule } of apart) counted(rule)
    return apart
  }

  /** A separate text (a line, a label) without its secrets; undefined if it has none. Too many: it goes as a whole. */
  redact(text: string, counted: (rule: string) => void): string | undefined {
    try {
      const found = this.find(text, this.#defaults && hasTrigger(text), 'words', counted)
      return found.length === 0 ? undefined : spliceText(text, toEdits(found))
    } catch (problem) {
      if (!(problem instanceof TooManyMarks)) throw problem
      counted(tooManyRule)
      return marker
    }
  }
}
