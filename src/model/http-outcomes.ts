import type { EntryTable } from './entry-table.js'
import { createRecent } from './recent.js'
import type { HttpRecord, MessageRecord, Part } from './record.js'
import { eraOfEnvelope } from './session.js'

/** Facts about a request from the end of its HTTP exchange. Exchanges are numbered by session. */
export interface HttpOutcomes {
  carried(session: number, record: MessageRecord, part: Part, row: number): void
  ended(session: number, record: HttpRecord): void
}

/** Requests remembered of each kind. */
const remembered = { entries: 10_000 }

export function createHttpOutcomes(entries: EntryTable): HttpOutcomes {
  /** Modern requests: in that era, closing the stream cancels. */
  const streamed = createRecent<number>(remembered)
  /** Requests that probe the era or transport of a server. */
  const probes = createRecent<number>(remembered)
  const keyOf = (session: number, exchange: number): string => `${session} ${exchange}`

  return {
    carried(session, { http }, { envelope }, row) {
      if (!http || envelope.kind !== 'request') return
      const { method } = envelope
      const key = keyOf(session, http.exchange)
      if (method === 'initialize' || method === 'server/discover') probes.set(key, row)
      if (eraOfEnvelope(envelope) === 'modern') streamed.set(key, row)
    },
    ended(session, { exchange, status = 0, why }) {
      const key = keyOf(session, exchange)
      const request = why?.startsWith('client: ') ? streamed.get(key) : undefined
      if (request !== undefined && !entries.has(request, 'answered')) entries.mark(request, 'cancelled')
      // A refusal by HTTP answers such a request: its client then tries another way.
      const probe = status >= 400 && status < 500 ? probes.get(key) : undefined
      if (probe !== undefined) entries.mark(probe, 'answered')
    },
  }
}
