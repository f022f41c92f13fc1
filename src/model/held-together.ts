import { createCorrelator, requestKey, type Observation, type Relations } from './correlate.js'
import { isAnswer, opposite, type Envelope } from './envelope.js'
import { createRecent } from './recent.js'
import type { MessageRecord } from './record.js'

/** What of a record says in what it stood with others. */
type Holder = Pick<MessageRecord, 'direction' | 'http' | 'entry'>

/** Requests by what holds their answers too: an HTTP exchange, or an entry of a file. */
interface HeldTogether<R> {
  /**
   * Takes the messages in order.
   *
   * @returns of an answer the request that stood in the same one under its id: that is the one it answers, whatever
   *   else has the id
   */
  take(record: Holder, envelope: Envelope, ref: R): Observation<R>['request']
}

interface Asked<R> {
  readonly ref: R
  answered: boolean
  /** Two of them in the same one under the same id. */
  isAmbiguous: boolean
}

/** Says what a message of a record belongs to; takes them in order. */
export type RecordCorrelator<R> = (
  record: Holder & Pick<MessageRecord, 'conversation'>,
  envelope: Envelope,
  ref: R,
) => Relations<R>

/** A correlator for records, which may say what held a request together with its answer. Parameters as for `createCorrelator`. */
export function createRecordCorrelator<R>(
  ...parameters: Parameters<typeof createCorrelator<R>>
): RecordCorrelator<R> {
  const correlator = createCorrelator<R>(...parameters)
  const together = createHeldTogether<R>(parameters[0])
  return (record, envelope, ref) => {
    const { direction, conversation = '' } = record
    const request = together.take(record, envelope, ref)
    return correlator.observe({ ref, envelope, direction, conversation, ...(request && { request }) })
  }
}

function createHeldTogether<R>(idKey: (idText: string) => string): HeldTogether<R> {
  const asked = createRecent<Asked<R>>({ entries: 8_192, chars: 4 * 1024 * 1024 })
  return {
    take({ direction, http, entry }, envelope, ref) {
      const holder = http?.exchange ?? entry
      const { id, kind } = envelope
      if (holder === undefined || id === undefined) return undefined
      if (kind === 'request') {
        const key = requestKey(String(holder), direction, idKey(id))
        const before = asked.get(key)
        if (before) before.isAmbiguous = true
        else asked.set(key, { ref, answered: false, isAmbiguous: false })
        return undefined
      }
      if (!isAnswer(envelope)) return undefined
      const request = asked.get(requestKey(String(holder), opposite(direction), idKey(id)))
      if (!request || request.isAmbiguous) return undefined
      const { answered } = request
      request.answered = true
      return { ref: request.ref, answered }
    },
  }
}
