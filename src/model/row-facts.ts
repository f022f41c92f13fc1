import type { EntryFlag } from './entry-table.js'

/** The rows of a recording in any columns: those of an `EntryTable`, or those that the viewer's page keeps. */
export interface RowColumns {
  kind(row: number): string
  has(row: number, flag: EntryFlag): boolean
  /** The request of an answer, the answer of a request; -1 for none. */
  peer(row: number): number
}

/** What makes a row worth a second look. */
export type Fact =
  | 'unanswered'
  | 'late'
  | 'orphan'
  | 'duplicate'
  | 'tool-error'
  | 'cancelled'
  | 'undelivered'
  | 'batch'
  | 'waiting'
  /** As `waiting`, while it is being recorded. */
  | 'held-now'
  | 'dropped'
  /** A request that a person or a rule answered; it is `dropped` too. */
  | 'answered-here'
  | 'modified'
  | 'injected'

const none: ReadonlySet<Fact> = new Set()

/**
 * All facts about a row, most important first.
 *
 * @param isLive while it is being recorded: what only the end tells is left out
 */
export function factsOf(rows: RowColumns, row: number, isLive = false): ReadonlySet<Fact> {
  const facts: Fact[] = []
  const add = (fact: Fact, holds: boolean): void => void (holds && facts.push(fact))
  add('unanswered', !isLive && isUnanswered(rows, row))
  add('late', rows.has(row, 'late'))
  add('orphan', rows.has(row, 'orphan'))
  add('duplicate', rows.has(row, 'duplicate'))
  add('tool-error', rows.has(row, 'toolError'))
  add('cancelled', rows.has(row, 'cancelled'))
  add('undelivered', rows.has(row, 'undelivered'))
  add('batch', rows.has(row, 'batch'))
  add(isLive ? 'held-now' : 'waiting', rows.has(row, 'waiting'))
  add('dropped', rows.has(row, 'dropped'))
  add('answered-here', isAnsweredHere(rows, row))
  add('modified', rows.has(row, 'modified'))
  add('injected', rows.has(row, 'injected'))
  return facts.length === 0 ? none : new Set(facts)
}

/** A request that went no further since a person or a rule answered it. */
export function isAnsweredHere(rows: RowColumns, row: number): boolean {
  if (!rows.has(row, 'dropped') || rows.kind(row) !== 'request') return false
  const answer = rows.peer(row)
  return answer >= 0 && rows.has(answer, 'injected')
}

/** Who created a message that no peer sent. @param text of an error, its message */
export function whoInjected(
  kind: string,
  rule: string | undefined,
  text = '',
): 'person' | 'rule' | 'wiretape' {
  if (rule !== undefined) return 'rule'
  // For a server that was started again, wiretape answers by itself and names itself.
  return kind === 'error' && text.startsWith('wiretape: ') ? 'wiretape' : 'person'
}

/** A request that got no answer although nothing explains it. */
export function isUnanswered(rows: RowColumns, row: number): boolean {
  return (
    rows.kind(row) === 'request' &&
    !rows.has(row, 'answered') &&
    !rows.has(row, 'cancelled') &&
    !rows.has(row, 'duplicate') &&
    !rows.has(row, 'stream') &&
    !rows.has(row, 'waiting') &&
    !rows.has(row, 'dropped')
  )
}
