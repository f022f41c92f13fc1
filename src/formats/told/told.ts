import {
  noTime,
  utf8Length,
  type Envelope,
  type MessageRecord,
  type MetaRecord,
  type Part,
  type TapeRecord,
} from '../../model/index.js'
import { adopt } from '../adopt.js'
import type { Recording } from '../format.js'

/** A record of a recording with what formats for people and other tools say about it. */
export type Told =
  | ToldMessage
  | {
      readonly kind: 'other'
      readonly record: Exclude<TapeRecord, MessageRecord>
      readonly us: number | undefined
    }

/** One message, those of a batch one by one. */
export interface ToldMessage {
  readonly kind: 'message'
  readonly record: MessageRecord
  readonly part: Part
  /** Its number. */
  readonly seq: number
  /** Microseconds since the session began; undefined where the recording says no times. */
  readonly us: number | undefined
  /** Of an answer: how long the other side took, without the time in which the request was held. */
  readonly latencyUs?: number
  /** Exact text. */
  readonly text: string
  /** Of the text as UTF-8. */
  readonly sizeBytes: number
  /** Of an answer, the request. */
  readonly request?: OpenRequest
}

/** A request that waits for its answer. */
export interface OpenRequest {
  readonly seq: number
  /** When it was passed on. */
  readonly us: number | undefined
  readonly envelope: Pick<Envelope, 'method' | 'subject' | 'id'>
  readonly conversation: string | undefined
}

/** Requests that are remembered: of more, the oldest have no answer. */
const mostOpen = 100_000

/** Goes through a recording once; remembers no payload. */
export async function* tellRecords(recording: Recording): AsyncGenerator<Told, void, undefined> {
  const open = new Map<string, OpenRequest>()
  let startedMs = Number.NaN
  let isUntimed = false
  let next = 0
  function usOf(record: Exclude<TapeRecord, { type: 'unknown' | 'meta' }>): number | undefined {
    if ('us' in record && record.us !== undefined) return record.us
    if (isUntimed && record.t === noTime) return undefined
    const us = (Date.parse(record.t ?? '') - startedMs) * 1000
    return Number.isNaN(us) ? 0 : us
  }
  for await (const record of adopt(recording).records()) {
    if (record.type === 'meta' && Number.isNaN(startedMs)) {
      startedMs = Date.parse(record.startedAt)
      isUntimed = record.startedAt === noTime
    }
    if (record.type !== 'message') {
      const us = record.type === 'unknown' || record.type === 'meta' ? 0 : usOf(record)
      yield { kind: 'other', record, us }
      continue
    }
    const us = usOf(record)
    const first = record.seq ?? next
    for (const [i, part] of record.parts.entries()) {
      const { envelope, correlatedId, id } = part
      const seq = first + i
      const request = correlatedId === undefined ? undefined : open.get(correlatedId)
      if (request) open.delete(correlatedId!)
      const text = record.raw.slice(part.start, part.end)
      const latencyUs = us === undefined || request?.us === undefined ? undefined : us - request.us
      yield {
        kind: 'message',
        record,
        part,
        seq,
        us,
        ...(latencyUs !== undefined && { latencyUs: Math.max(0, latencyUs) }),
        text,
        sizeBytes: part.sizeBytes ?? utf8Length(text),
        ...(request && { request }),
      }
      if (envelope.kind !== 'request' || id === undefined) continue
      if (open.size >= mostOpen) for (const oldest of open.keys()) if (open.delete(oldest)) break
      const { method, subject } = envelope
      const kept = {
        ...(method !== undefined && { method }),
        ...(subject !== undefined && { subject }),
        ...(envelope.id !== undefined && { id: envelope.id }),
      }
      const sentUs = us === undefined ? undefined : us + (record.heldMs ?? 0) * 1000
      open.set(id, { seq, us: sentUs, envelope: kept, conversation: record.conversation })
    }
    next = first + record.parts.length
  }
}

/** The first line of a recording, where it has one. */
export async function metaOf(recording: Recording): Promise<MetaRecord | undefined> {
  for await (const record of recording.records()) return record.type === 'meta' ? record : undefined
  return undefined
}
