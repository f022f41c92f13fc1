import type { Draft } from '../model/index.js'
import {
  compareAnswers,
  failureOf,
  isFailure,
  ownAnswerNote,
  outputSchemasOf,
  type AnswerComparison,
  type CompareSettings,
  type ExchangeComparison,
  type ExchangeSide,
  type Offers,
  type VariedBetween,
  type Verdict,
} from '../compare/index.js'
import type { Mark } from './mark.js'
import type { Finished } from './ordered-outcomes.js'
import type { Plan } from './plan.js'
import type { PlannedMessage } from './planned-frames.js'

/** A recorded response. */
export interface RecordedAnswer {
  readonly text: string
  readonly marks: readonly Mark[]
}

/**
 * Compares the outcome of a request with the recorded one.
 *
 * @param varying recognises values that every run makes anew
 * @param echoes live strings by the recorded ones that they replaced in the request
 */
export function compareMessage(
  plan: Plan,
  message: PlannedMessage,
  answer: RecordedAnswer | undefined,
  finished: Finished,
  settings: CompareSettings,
  offers: Offers,
  echoes?: ReadonlyMap<string, string>,
  varying?: VariedBetween,
): ExchangeComparison {
  const { status, response, error } = finished
  const sides = sidesOf(plan, message, answer, finished)
  const as = (verdict: Exclude<Verdict, 'changed'>, isNoted = false): ExchangeComparison =>
    comparisonOf({ verdict, ...none }, message, sides, isNoted ? error : undefined)
  if (status === 'not sent' || status === 'interrupted') return as('not sent', true)
  if (message.peer >= 0 && plan.index.entries.has(message.peer, 'injected'))
    return comparisonOf({ verdict: 'same', ...none }, message, sides, ownAnswerNote)
  // A refused notification.
  if (status === 'failed' && message.kind !== 'request') return as('error now')
  // No response then and now: cancelled, or hanging both times. Whether a cancelled request gets one is a race.
  if (response === undefined && (!answer || message.loose)) return as('same')
  if (!answer && message.loose) return as('same')
  if (status === 'failed') {
    if (!answer || sides.before.failure === undefined) return as('error now')
    const gone = { kind: 'removed', place: [], before: answer.text } as const
    return comparisonOf({ ...none, verdict: 'changed', differences: [gone] }, message, sides, error)
  }
  if (settings.level !== 'exact' && isPageTooMany(plan, message, answer, response, offers)) return as('same')
  const { method = '', name } = message
  const outputSchemas =
    settings.level === 'schema' && method === 'tools/call'
      ? outputSchemasOf(plan.index.offers, offers, name ?? '')
      : undefined
  const compared = compareAnswers(
    answer && { text: answer.text, redacted: answer.marks.map(({ at }) => at) },
    response === undefined ? undefined : { text: response },
    { method, name, outputSchemas, echoes, varying },
    settings,
  )
  return comparisonOf(compared, message, sides, error)
}

/** The live server's list ended before this page. The list is compared as a whole, with its first page. */
function isPageTooMany(
  { index }: Plan,
  { row }: PlannedMessage,
  answer: RecordedAnswer | undefined,
  response: string | undefined,
  { listings }: Offers,
): boolean {
  const first = index.offers.listings.firstOf(row)
  if (first === undefined || first === row || !answer || response === undefined) return false
  return isFailure(response) && listings.get(first)?.goesOn === false
}

const none: Pick<AnswerComparison, 'differences' | 'more' | 'schemaFaults'> = {
  differences: [],
  more: 0,
  schemaFaults: [],
}

interface Sides {
  readonly before: ExchangeSide
  /** Absent when the message was not sent. */
  readonly after?: ExchangeSide
}

/** Built member by member, like outcomes. */
function comparisonOf(
  { verdict, differences, more, schemaFaults, knownFaults, varied }: AnswerComparison,
  { method = '', name }: PlannedMessage,
  { before, after }: Sides,
  note: string | undefined,
): ExchangeComparison {
  const comparison: Draft<ExchangeComparison> = {
    verdict,
    method,
    direction: 'client_to_server',
    before,
    differences,
    more,
    schemaFaults,
  }
  if (name !== undefined) comparison.name = name
  if (after) comparison.after = after
  if (varied) comparison.varied = varied
  if (knownFaults) comparison.knownFaults = knownFaults
  if (note !== undefined) comparison.notes = [note]
  return comparison
}

function sidesOf(
  { index }: Plan,
  { seq, peer }: PlannedMessage,
  answer: RecordedAnswer | undefined,
  { status, response, error, durationUs }: Finished,
): Sides {
  const before: Draft<ExchangeSide> = { seq }
  if (answer) {
    before.answerSeq = index.entries.seq(peer)
    const latencyUs = index.latencyUs(peer)
    if (latencyUs !== undefined) before.latencyUs = latencyUs
    const failed = failureOf(answer.text)
    if (failed !== undefined) before.failure = failed
  }
  if (status === 'not sent' || status === 'interrupted') return { before }
  const after: Draft<ExchangeSide> = { seq }
  if (durationUs !== undefined && response !== undefined) after.latencyUs = durationUs
  const fails = response === undefined ? error : failureOf(response)
  if (fails !== undefined) after.failure = fails
  return { before, after }
}
