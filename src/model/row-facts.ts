import type { EntryFlag } from './entry-table.js'

/** The rows of a recording in any columns: those of an `EntryTable`, or those of the viewer's page. */
export interface RowColumns {
  kind(row: number): string
  has(row: number, flag: EntryFlag): boolean
  /** The request of a response, the response of a request; -1 for none. */
  peer(row: number): number
  /** The request that a message is linked to otherwise; -1 for none. */
  linked(row: number): number
}

/** Facts that make a row notable. */
export type Fact =
  | 'unanswered'
  | 'late'
  | 'orphan'
  | 'duplicate'
  | 'tool-error'
  /** The response that created a task. */
  | 'task-open'
  | 'task-failed'
  | 'task-cancelled'
  | 'cancelled'
  | 'undelivered'
  | 'batch'
  | 'waiting'
  /** As `waiting`, while recording. */
  | 'held-now'
  | 'dropped'
  /** A response or progress that only wiretape received, because it sent the request; it is `dropped` too. */
  | 'own'
  /** A request answered by a person or a rule; it is `dropped` too. */
  | 'answered-here'
  | 'modified'
  | 'injected'

const none: ReadonlySet<Fact> = new Set()

/**
 * All facts about a row, most important first.
 *
 * @param isLive while recording: facts that only the end reveals are omitted
 */
export function factsOf(rows: RowColumns, row: number, isLive = false): ReadonlySet<Fact> {
  const facts: Fact[] = []
  const add = (fact: Fact, holds: boolean): void => void (holds && facts.push(fact))
  add('unanswered', !isLive && isUnanswered(rows, row))
  add('late', rows.has(row, 'late'))
  add('orphan', rows.has(row, 'orphan'))
  add('duplicate', rows.has(row, 'duplicate'))
  add('tool-error', rows.has(row, 'toolError'))
  add('task-open', rows.has(row, 'taskOpen'))
  add('task-failed', rows.has(row, 'taskFailed'))
  add('task-cancelled', rows.has(row, 'taskCancelled'))
  add('cancelled', rows.has(row, 'cancelled'))
  add('undelivered', rows.has(row, 'undelivered'))
  add('batch', rows.has(row, 'batch'))
  add(isLive ? 'held-now' : 'waiting', rows.has(row, 'waiting'))
  add('dropped', rows.has(row, 'dropped'))
  add('own', isForWiretape(rows, row))
  add('answered-here', isAnsweredHere(rows, row))
  add('modified', rows.has(row, 'modified'))
  add('injected', rows.has(row, 'injected'))
  return facts.length === 0 ? none : new Set(facts)
}

/** A request that was not forwarded because a person or a rule answered it. */
export function isAnsweredHere(rows: RowColumns, row: number): boolean {
  if (!rows.has(row, 'dropped') || rows.kind(row) !== 'request') return false
  const answer = rows.peer(row)
  return answer >= 0 && rows.has(answer, 'injected')
}

/** The creator of a message that no peer sent. @param text message of an error */
export function whoInjected(
  kind: string,
  rule: string | undefined,
  text = '',
): 'person' | 'rule' | 'wiretape' {
  if (rule !== undefined) return 'rule'
  // For a restarted server, wiretape answers automatically; the error text begins with its name.
  return kind === 'error' && text.startsWith('wiretape: ') ? 'wiretape' : 'person'
}

/** A response that only wiretape received, because wiretape sent the request. */
export function isOwnAnswer(rows: RowColumns, row: number): boolean {
  if (!rows.has(row, 'dropped') || rows.kind(row) === 'request') return false
  const request = rows.peer(row)
  return request >= 0 && rows.has(request, 'injected')
}

/** Whether this is the response to a request that wiretape sent, or its progress: only wiretape received it. */
export function isForWiretape(rows: RowColumns, row: number): boolean {
  if (!rows.has(row, 'dropped')) return false
  const request = rows.linked(row)
  return request >= 0 && rows.has(request, 'injected')
}

/** A JSON-RPC error response, the result of a failed tool (`isError`), or a response that created a failed task. */
export function hasFailed(rows: RowColumns, row: number): boolean {
  return rows.kind(row) === 'error' || rows.has(row, 'toolError') || rows.has(row, 'taskFailed')
}

/**
 * A failed response of either side that arrived: held and dropped responses did not. A failed task counts once, at the
 * response that created it. Every count of errors counts these rows.
 */
export function isErrorAnswer(rows: RowColumns, row: number): boolean {
  return isFailedAnswer(rows, row) && !rows.has(row, 'repeated')
}

/** As `isErrorAnswer`, and the response with the error of a failed task. */
export function isFailedAnswer(rows: RowColumns, row: number): boolean {
  if (!hasFailed(rows, row) || rows.has(row, 'waiting')) return false
  return !rows.has(row, 'dropped') || isOwnAnswer(rows, row)
}

/** A request without a response and without an explanation for that. */
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
