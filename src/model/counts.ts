import { isMessageKind, type EntryTable, type LoneKind } from './entry-table.js'
import type { MessageKind } from './envelope.js'
import { isAnsweredHere, isErrorAnswer, isForWiretape, isUnanswered } from './row-facts.js'

/** Totals of a recording. */
export interface Counts {
  messages: number
  requests: number
  notifications: number
  results: number
  /** JSON-RPC error responses, also those that only wiretape received. */
  errors: number
  /** Tool results with `isError: true`, also those that only wiretape received, and failed tasks. */
  toolErrors: number
  invalid: number
  noise: number
  stderr: number
  gaps: number
  /** Restarts: how often the server process was replaced. */
  restarts: number
  /** HTTP exchanges whose response carried no JSON-RPC. */
  http: number
  /** Messages that the gaps report as missing. */
  lost: number
  unanswered: number
  cancelled: number
  late: number
  orphans: number
  duplicates: number
  undelivered: number
  /** Held, neither forwarded nor dropped. Like the dropped, no `messages`: they did not cross the wire. */
  waiting: number
  dropped: number
  /** Dropped requests that a person or a rule answered in place of the other side. */
  answeredHere: number
  /** Messages that were held, whatever the outcome. */
  held: number
  modified: number
  injected: number
}

/** Counts the rows. The caller adds the messages lost in gaps: rows do not hold them. */
export function countsOf(entries: EntryTable): Counts {
  const c: Counts = { ...zero }
  for (let row = 0; row < entries.length; row += 1) {
    const kind = entries.kind(row)
    if (!isMessageKind(kind)) {
      const count = countOfOther[kind]
      if (count !== undefined) c[count] += 1
      continue
    }
    if (isErrorAnswer(entries, row)) c[kind === 'error' ? 'errors' : 'toolErrors'] += 1
    // Only wiretape received these; they cannot be held or dropped.
    if (isForWiretape(entries, row)) continue
    if (entries.has(row, 'held')) c.held += 1
    if (entries.has(row, 'waiting') || entries.has(row, 'dropped')) {
      if (isAnsweredHere(entries, row)) c.answeredHere += 1
      c[entries.has(row, 'dropped') ? 'dropped' : 'waiting'] += 1
      continue
    }
    c.messages += 1
    if (kind !== 'error') c[countOfKind[kind]] += 1
    if (entries.has(row, 'modified')) c.modified += 1
    if (entries.has(row, 'injected')) c.injected += 1
    if (isUnanswered(entries, row)) c.unanswered += 1
    if (entries.has(row, 'cancelled')) c.cancelled += 1
    if (entries.has(row, 'late')) c.late += 1
    if (entries.has(row, 'orphan')) c.orphans += 1
    if (entries.has(row, 'duplicate')) c.duplicates += 1
    if (entries.has(row, 'undelivered')) c.undelivered += 1
  }
  return c
}

const countOfKind = {
  request: 'requests',
  notification: 'notifications',
  result: 'results',
  invalid: 'invalid',
} as const satisfies Record<Exclude<MessageKind, 'error'>, keyof Counts>

/** The fold counts gaps, together with their lost messages. */
const countOfOther: { readonly [K in LoneKind]?: keyof Counts } = {
  noise: 'noise',
  stderr: 'stderr',
  http: 'http',
}

const zero: Counts = {
  messages: 0,
  requests: 0,
  notifications: 0,
  results: 0,
  errors: 0,
  toolErrors: 0,
  invalid: 0,
  noise: 0,
  stderr: 0,
  http: 0,
  gaps: 0,
  restarts: 0,
  lost: 0,
  unanswered: 0,
  cancelled: 0,
  late: 0,
  orphans: 0,
  duplicates: 0,
  undelivered: 0,
  waiting: 0,
  dropped: 0,
  answeredHere: 0,
  held: 0,
  modified: 0,
  injected: 0,
}
