import type { Draft, SseContext, TapeRecord } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'

/**
 * What every record passes on its way to the tape: a secret in any string of it goes, also in those that nothing else
 * looks at (fields of events, methods, reasons, names of rules). Texts that were redacted before stay as they are, since
 * a marker is no secret; messages (`raw`, `original`) are redacted where their structure is known.
 */
export function createRecordGuard(redactor: Redactor): (record: TapeRecord) => TapeRecord {
  if (redactor.name === 'none') return (record) => record

  function sseOf(sse: SseContext): SseContext {
    return {
      ...sse,
      ...(sse.event !== undefined && { event: redactor.text(sse.event) }),
      ...(sse.id !== undefined && { id: redactor.text(sse.id) }),
    }
  }

  return (record) => {
    switch (record.type) {
      case 'message':
      case 'held': {
        const { sse, http, rule } = record
        if (sse === undefined && http === undefined && rule === undefined) return record
        // Changed in place: this runs for every message, and nobody else has it.
        const draft: Draft<typeof record> = record
        if (sse !== undefined) draft.sse = sseOf(sse)
        if (rule !== undefined) draft.rule = redactor.text(rule)
        if (http?.method !== undefined && http.method !== 'POST')
          draft.http = { ...http, method: redactor.text(http.method) }
        return record
      }
      case 'http': {
        const { sse, why, method } = record
        return {
          ...record,
          method: redactor.text(method),
          ...(why !== undefined && { why: redactor.text(why) }),
          ...(sse !== undefined && { sse: sseOf(sse) }),
        }
      }
      case 'dropped':
        return {
          ...record,
          why: redactor.text(record.why),
          ...(record.rule !== undefined && { rule: redactor.text(record.rule) }),
        }
      case 'gap':
      case 'undelivered':
        return { ...record, why: redactor.text(record.why) }
      // Their texts are redacted where they arise and hold nothing else from peers. Lines keep the state of a private key
      // that goes on over lines, by channel: a second look would have neither its channel nor its order.
      case 'noise':
      case 'stderr':
      case 'note':
      case 'meta':
      case 'unknown':
      case 'end':
        return record
    }
  }
}
