import { spliceText, type Span } from '../wire/index.js'
import { findAssignments } from './assignments.js'
import { Findings, separate, toEdits, tooManyRule, TooManyMarks, type Finding } from './finding.js'
import { findFlags } from './flags.js'
import { marker } from './marker.js'
import { findInCalls, findInMarkup, findInMultipart } from './markup.js'
import { findInLines } from './tables.js'
import { findTrigger, hasTrigger } from './trigger.js'
import { findValuePatterns } from './value-patterns.js'

/** A user's rule for text. Bounded in time by itself. */
export interface TextRule {
  readonly kind: 'text'
  /** For the report; never the pattern, which may hold the very secret. */
  readonly name: string
  /** What to take out: ascending, apart, none empty. */
  find(text: string): readonly Span[]
}

/**
 * What a text is: `words` of a log or a person, where every `name=value` counts; a string in a `message`, which may be
 * code or prose; `documentation`, where only what its vendor made to be recognised is a secret.
 */
export type TextKind = 'words' | 'message' | 'documentation'

/** Shorter texts are read from their beginning. */
const shortText = 8192
/** Names, commands, rows and paths reach that far back from what announces a secret, up to the beginning of a line. */
const reach = 4096

/** From where on the default rules have to read a text: a line far enough before the first trigger. */
function startOfReading(text: string): number {
  if (text.length < shortText) return 0
  const trigger = findTrigger(text, 0)
  if (trigger <= reach) return 0
  // What these say holds for members and lines before them too.
  if (text.includes('"kty') || /kind\\?"?\s{0,4}:\s{0,4}\\?"?Secret\b/.test(text)) return 0
  return text.lastIndexOf('\n', trigger - reach) + 1
}

function findDefaults(text: string, kind: TextKind, found: Finding[]): void {
  findValuePatterns(text, found, kind === 'documentation')
  if (kind === 'documentation') return
  const broad = kind === 'words'
  findAssignments(text, broad, found)
  findFlags(text, broad, found)
  findInMarkup(text, found)
  findInMultipart(text, found)
  findInCalls(text, found)
  findInLines(text, broad, found)
}

/** Finds the secrets of plain, decoded text. */
export class TextRedactor {
  readonly #defaults: boolean
  readonly #rules: readonly TextRule[]

  constructor(defaults: boolean, rules: readonly TextRule[]) {
    this.#defaults = defaults
    this.#rules = rules
  }

  /** Whether there is anything to look for besides what triggers announce. */
  get hasRules(): boolean {
    return this.#rules.length > 0
  }

  /**
   * The secrets in `text`, ascending and apart. `suspicious`: whether the default rules look, which hasTrigger
   * says. `counted` gets the rule of each. Throws TooManyMarks.
   */
  find(
    text: string,
    suspicious: boolean,
    kind: TextKind,
    counted: (rule: string) => void,
  ): readonly Finding[] {
    const found = new Findings()
    if (suspicious) {
      const from = startOfReading(text)
      findDefaults(from === 0 ? text : text.slice(from), kind, found)
      if (from > 0) {
        for (const [i, { start, end, rule }] of found.entries())
          found[i] = { start: start + from, end: end + from, rule }
      }
    }
    for (const rule of this.#rules) {
      for (const { start, end } of rule.find(text)) found.push({ start, end, rule: rule.name })
    }
    const apart = separate(found)
    for (const { rule } of apart) counted(rule)
    return apart
  }

  /** A text of its own (a line, a label) without its secrets; undefined when it has none. One of too many goes whole. */
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
