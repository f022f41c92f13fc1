import { Correlator, type Observation, type Relations } from './correlate.js'
import { requestKey } from './request-key.js'
import { isAnswer, isNamelessError, opposite, type Envelope } from './envelope.js'
import { createRecent } from './recent.js'
import type { MessageRecord } from './record.js'

/** Parts of a record that identify its container: the HTTP exchange or the entry. */
type Holder = Pick<MessageRecord, 'direction' | 'http' | 'entry'>

/** Requests by the container that also holds their responses: an HTTP exchange, or an entry of a file. */
interface HeldTogether<R> {
  /**
   * Takes the messages in order.
   *
   * @returns for a response, the request with its id in the same container: that one is answered, whatever other
   *   request has the id. An error that names no request answers the only request in the container.
   */
  take(record: Holder, envelope: Envelope, ref: R): Observation<R>['request']
}

interface Asked<R> {
  readonly ref: R
  readonly id: string
  answered: boolean
  /** The container holds two requests with the same id. */
  isAmbiguous: boolean
}

/** Finds the related messages of a record's messages; takes them in order. */
export type RecordCorrelator<R> = (
  record: Holder & Pick<MessageRecord, 'conversation'>,
  envelope: Envelope,
  ref: R,
) => Relations<R>

/** A correlator for records, which may name such a container. Parameters as for `Correlator`. */
export function createRecordCorrelator<R>(
  ...parameters: ConstructorParameters<typeof Correlator<R>>
): RecordCorrelator<R> {
  const correlator = new Correlator<R>(...parameters)
  const together = createHeldTogether<R>(parameters[0])
  return (record, envelope, ref) => {
    const { direction, conversation = '' } = record
    const request = together.take(record, envelope, ref)
    return correlator.observe({ ref, envelope, direction, conversation, ...(request && { request }) })
  }
}

function createHeldTogether<R>(idKey: (idText: string) => string): HeldTogether<R> {
  const limits = { entries: 8_192, chars: 4 * 1024 * 1024 }
  const asked = createRecent<Asked<R>>(limits)
  /** The request of each container; null for more than one. */
  const alone = createRecent<Asked<R> | null>(limits)
  return {
    take({ direction, http, entry }, envelope, ref) {
      const holder = http?.exchange ?? entry
      const { id, kind } = envelope
      if (holder === undefined) return undefined
      const name = String(holder)
      if (kind === 'request' && id !== undefined) {
        const key = requestKey(name, direction, idKey(id))
        const before = asked.get(key)
        const request = { ref, id, answered: false, isAmbiguous: false }
        if (before) before.isAmbiguous = true
        else asked.set(key, request)
        const side = `${name} ${direction}`
        alone.set(side, alone.get(side) === undefined ? request : null)
        return undefined
      }
      if (!isAnswer(envelope)) return undefined
      const others = opposite(direction)
      const request = isNamelessError(envelope)
        ? alone.get(`${name} ${others}`)
        : asked.get(requestKey(name, others, idKey(id ?? '')))
      if (!request || request.isAmbiguous) return undefined
      const { answered } = request
      // The request's own response may come before or after an error that names no request.
      if (answered && isNamelessError(envelope)) return undefined
      request.answered = true
      return { ref: request.ref, answered, id: idKey(request.id) }
    },
  }
}
