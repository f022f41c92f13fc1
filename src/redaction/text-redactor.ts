import { spliceText, type Span } from '../wire/index.js'
import { findAssignments } from './assignments.js'
import { Findings, separate, toEdits, tooManyRule, TooManyMarks, type Finding } from './finding.js'
import { findFlags } from './flags.js'
import { marker } from './marker.js'
import { findInCalls, findInMarkup, findInMultipart } from './markup.js'
import { findInLines } from './tables.js'
import { hasTrigger } from './trigger.js'
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
      findValuePatterns(text, found, kind === 'documentation')
      if (kind !== 'documentation') {
        const broad = kind === 'words'
        findAssignments(text, broad, found)
        findFlags(text, broad, found)
        findInMarkup(text, found)
        findInMultipart(text, found)
        findInCalls(text, found)
        findInLines(text, found)
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
