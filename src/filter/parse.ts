import type { Condition } from './condition.js'
import { createFilter, needsFindings, type Filter } from './filter.js'
import { FilterProblem, type FilterFault } from './fault.js'
import { readTerm } from './terms.js'
import { Scanner } from './scanner.js'

export interface ParseFilterOptions {
  /**
   * Reference time for `since:10m`, in milliseconds since 1970.
   *
   * @default the time of the call
   */
  readonly nowMs?: number
  /**
   * `refused`: conditions on findings are a fault, for uses without rules.
   *
   * @default 'allowed'
   */
  readonly findings?: 'allowed' | 'refused'
}

/** Exactly one of the two. */
export type ParsedFilter =
  | { readonly filter: Filter; readonly fault?: never }
  | { readonly fault: FilterFault; readonly filter?: never }

/** Limit in characters; filters are typed by hand. */
const longestFilter = 4000

/** Parses a filter. Never throws: problems are returned as the fault. An empty text matches everything. */
export function parseFilter(
  text: string,
  { nowMs = Date.now(), findings = 'allowed' }: ParseFilterOptions = {},
): ParsedFilter {
  try {
    if (text.length > longestFilter) {
      throw new FilterProblem(longestFilter, text.length, `is longer than ${longestFilter} characters`)
    }
    const filter = createFilter(text, new Parser(text, nowMs).filter())
    if (findings === 'refused' && needsFindings(filter)) throw findingsProblem(text)
    return { filter }
  } catch (problem) {
    if (problem instanceof FilterProblem) return { fault: problem.toFault() }
    throw problem
  }
}

function findingsProblem(text: string): FilterProblem {
  const found = /\b(?:finding|level)(?=[:=~!])/i.exec(text)
  const start = found?.index ?? 0
  return new FilterProblem(
    start,
    start + (found?.[0].length ?? 0),
    'finding: and level: need a whole recording, and do not work in breakpoints and rules',
  )
}

const deepest = 100

class Parser {
  readonly #scanner: Scanner
  readonly #nowMs: number
  #depth = 0

  constructor(text: string, nowMs: number) {
    this.#scanner = new Scanner(text)
    this.#nowMs = nowMs
  }

  filter(): Condition {
    const scanner = this.#scanner
    scanner.skipBlanks()
    if (scanner.peek() === '') return { kind: 'all', of: [] }
    const condition = this.#any()
    if (scanner.peek() === ')') throw problemAt(scanner, 'this ) has no (')
    return condition
  }

  #any(): Condition {
    const of = [this.#all()]
    while (this.#word('or') || this.#scanner.take('||')) of.push(this.#all())
    return of.length === 1 ? of[0]! : { kind: 'any', of }
  }

  #all(): Condition {
    const of: Condition[] = []
    for (;;) {
      this.#scanner.skipBlanks()
      if (of.length > 0) {
        if (this.#ends()) return of.length === 1 ? of[0]! : { kind: 'all', of }
        if (!this.#word('and')) this.#scanner.take('&&')
      }
      of.push(this.#negatable())
    }
  }

  /** Whether a sequence of conditions ends here. */
  #ends(): boolean {
    const { text, at } = this.#scanner
    const next = this.#scanner.peek()
    return next === '' || next === ')' || this.#sees('or') || text.startsWith('||', at)
  }

  /** Rejects the end of the text or a connective where a condition is required. */
  #refuseMissing(): void {
    const scanner = this.#scanner
    if (this.#ends() || this.#sees('and') || scanner.text.startsWith('&&', scanner.at)) {
      throw problemAt(scanner, 'expected a condition, such as method:tools/call')
    }
  }

  #negatable(): Condition {
    const scanner = this.#scanner
    let negated = false
    for (;;) {
      scanner.skipBlanks()
      const sign = scanner.peek()
      if ((sign === '-' || sign === '!') && isDeniable(scanner.peek(1))) scanner.at += 1
      else if (!this.#word('not')) break
      negated = !negated
    }
    const condition = this.#primary()
    return negated ? { kind: 'not', of: condition } : condition
  }

  #primary(): Condition {
    const scanner = this.#scanner
    scanner.skipBlanks()
    this.#refuseMissing()
    const start = scanner.at
    const sign = scanner.peek()
    if (sign === '>' || sign === '<') {
      scanner.at += 1
      const direction: Condition = {
        kind: 'direction',
        direction: sign === '>' ? 'client_to_server' : 'server_to_client',
      }
      const alone = scanner.atEnd() && scanner.peek() !== '('
      return alone ? direction : { kind: 'all', of: [direction, this.#nested(() => this.#negatable())] }
    }
    if (!scanner.take('(')) return readTerm(scanner, this.#nowMs)
    const condition = this.#nested(() => this.#any())
    scanner.skipBlanks()
    if (!scanner.take(')')) throw new FilterProblem(start, start + 1, 'this ( is not closed: expected )')
    return condition
  }

  #nested(read: () => Condition): Condition {
    this.#depth += 1
    if (this.#depth > deepest) throw problemAt(this.#scanner, `is nested more than ${deepest} deep`)
    const condition = read()
    this.#depth -= 1
    return condition
  }

  /** Skips a keyword of the language, in any letter case. */
  #word(word: string): boolean {
    this.#scanner.skipBlanks()
    if (!this.#sees(word)) return false
    this.#scanner.at += word.length
    return true
  }

  #sees(word: string): boolean {
    const { text, at } = this.#scanner
    const found = text.slice(at, at + word.length)
    return (found === word || found === word.toUpperCase()) && isWordEnd(this.#scanner.peek(word.length))
  }
}

/** Whether a keyword ends before this character: `or(` is a keyword, `order` is not. */
function isWordEnd(next: string): boolean {
  return next === '' || /[\s()]/.test(next)
}

/** Whether the next character starts a condition that `-` can negate. */
function isDeniable(next: string): boolean {
  return next !== '' && !/[\s)]/.test(next)
}

function problemAt(scanner: Scanner, message: string): FilterProblem {
  return new FilterProblem(scanner.at, scanner.at + 1, message)
}
