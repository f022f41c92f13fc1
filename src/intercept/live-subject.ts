import type { FilterSubject } from '../filter/index.js'
import type { Envelope } from '../model/index.js'
import type { Offer } from './frame.js'

/** The subject of a request, for filters on its response. */
export interface Asked {
  readonly method: string | null
  readonly name: string | null
}

/** A message at the gate as a filter sees it. Facts that are known only later are null. */
export function liveSubject(
  offer: Omit<Offer, 'settle'>,
  part: Offer['parts'][number],
  asked: Asked | undefined,
): FilterSubject {
  const { envelope } = part
  return {
    kind: envelope.kind,
    direction: offer.direction,
    method: envelope.method ?? asked?.method ?? null,
    name: envelope.subject ?? asked?.name ?? null,
    id: envelope.id ?? null,
    sequence: null,
    status: statusOf(envelope),
    httpStatus: null,
    errorCode: envelope.errorCode ?? null,
    latencyMs: null,
    get sizeBytes() {
      return Buffer.byteLength(offer.text.slice(part.start, part.end))
    },
    timeMs: offer.wallMs,
    conversation: offer.conversation === '' ? null : offer.conversation,
    transport: offer.transport,
    rule: null,
    findings: [],
    is(flag) {
      if (flag === 'batch') return offer.batch
      if (flag === 'error') return statusOf(envelope) === 'error'
      return flag === 'tool-error' && envelope.toolError === true
    },
    raw: () => offer.text.slice(part.start, part.end),
  }
}

function statusOf({ kind, toolError }: Envelope): FilterSubject['status'] {
  if (kind === 'error') return 'error'
  if (kind === 'result') return toolError ? 'error' : 'ok'
  return null
}
