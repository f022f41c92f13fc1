import {
  compareAnswers,
  failureOf,
  outputSchemas,
  type CompareSettings,
  type ExchangeComparison,
  type Offers,
} from '../compare/index.js'
import type { Mark } from './live-values.js'
import type { Finished } from './ordered-outcomes.js'
import type { Plan, PlannedMessage } from './plan.js'

/** An answer as it was recorded. */
export interface RecordedAnswer {
  readonly text: string
  readonly marks: readonly Mark[]
}

/**
 * Holds what came of a request against what was recorded.
 *
 * @param echoes live strings by the recorded ones that the request had them for
 */
export function compareMessage(
  plan: Plan,
  message: PlannedMessage,
  answer: RecordedAnswer | undefined,
  finished: Finished,
  settings: CompareSettings,
  offers: Offers,
  echoes?: ReadonlyMap<string, string>,
): ExchangeComparison {
  const { status, response, error } = finished
  const base = sidesOf(plan, message, answer, finished)
  const none = { differences: [], more: 0, schemaFaults: [] }
  const notes = error === undefined ? {} : { notes: [error] }
  if (status === 'not sent') return { verdict: 'not sent', ...none, ...base, ...notes }
  // A notification that was refused.
  if (status === 'failed' && message.kind !== 'request') return { verdict: 'error now', ...none, ...base }
  // Neither answered: it was cancelled, or hung then and hangs now. Whether a cancelled one is answered is a race.
  if (response === undefined && (!answer || message.loose)) return { verdict: 'same', ...none, ...base }
  if (!answer && message.loose) return { verdict: 'same', ...none, ...base }
  if (status === 'failed') {
    const verdict = base.before.failure === undefined ? 'error now' : 'changed'
    return { verdict, ...none, ...base, ...(verdict === 'changed' && notes) }
  }
  const { method = '', name } = message
  const outputSchema =
    settings.level === 'schema' && method === 'tools/call'
      ? outputSchemas(offers, plan.index.offers).get(name ?? '')
      : undefined
  const compared = compareAnswers(
    answer && { text: answer.text, redacted: answer.marks.map(({ at }) => at) },
    response === undefined ? undefined : { text: response },
    { method, name, outputSchema, echoes },
    settings,
  )
  return { ...compared, ...base, ...notes }
}

function sidesOf(
  { index }: Plan,
  { method = '', name, seq, peer }: PlannedMessage,
  answer: RecordedAnswer | undefined,
  { status, response, error, durationUs }: Finished,
): Pick<ExchangeComparison, 'method' | 'name' | 'direction' | 'after'> & {
  before: NonNullable<ExchangeComparison['before']>
} {
  const latencyUs = answer && index.latencyUs(peer)
  const [failedBefore, failsNow] = [
    answer && failureOf(answer.text),
    response === undefined ? error : failureOf(response),
  ]
  return {
    method,
    ...(name !== undefined && { name }),
    direction: 'client_to_server',
    before: {
      seq,
      ...(answer && { answerSeq: index.entries.seq(peer) }),
      ...(latencyUs !== undefined && { latencyUs }),
      ...(failedBefore !== undefined && { failure: failedBefore }),
    },
    ...(status !== 'not sent' && {
      after: {
        seq,
        ...(durationUs !== undefined && response !== undefined && { latencyUs: durationUs }),
        ...(failsNow !== undefined && { failure: failsNow }),
      },
    }),
  }
}
