import {
  createClientWaits,
  RecordClock,
  utf8Length,
  type Envelope,
  type MessageRecord,
  type MetaRecord,
  type Part,
  type TapeRecord,
  type Draft,
} from '../../model/index.js'
import { adopt } from '../adopt.js'
import type { Recording } from '../format.js'
import { flatMapped } from '../iterate.js'
import { LentMessage, type PlainForm } from '../trace-v1/index.js'

/** A record with the data that formats for people and other tools need. */
export type Told =
  | ToldMessage
  | {
      readonly kind: 'other'
      readonly record: Exclude<TapeRecord, MessageRecord>
      readonly us: number | undefined
    }

/** A single message; those of a batch are separate. */
export interface ToldMessage {
  readonly kind: 'message'
  readonly record: MessageRecord
  readonly part: Part
  /** Its message number. */
  readonly seq: number
  /** Microseconds since the session began; undefined where the recording has no times. */
  readonly us: number | undefined
  /** For a response: time of the other side, without the time its request was held or it waited for its client. */
  readonly latencyUs: number | undefined
  /** Exact text; empty for a `LentMessage`. */
  readonly text: string
  /** Bytes of the text in the requested form, if a thread prepared it. */
  readonly encoded: Uint8Array | undefined
  /** Size of the text in UTF-8. */
  readonly sizeBytes: number
  /** For a response, its request. */
  readonly request: OpenRequest | undefined
}

/** A request without a response. */
export interface OpenRequest {
  /** Index among the messages. */
  readonly row: number
  readonly fromServer: boolean
  readonly seq: number
  /** Time of forwarding. */
  readonly us: number | undefined
  readonly envelope: Pick<Envelope, 'method' | 'subject' | 'id'>
  readonly conversation: string | undefined
}

/** Open requests remembered; beyond that, the oldest count as unanswered. */
const mostOpen = 100_000

/**
 * Reads a recording once; holds no payloads. Links are returned where the recording has them.
 *
 * @param lent as for `records`
 */
export function tellRecords(recording: Recording, lent?: PlainForm): AsyncIterable<Told> {
  const teller = new Teller()
  return flatMapped(adopt(recording, { links: false }).records(lent), (record) => teller.tell(record))
}

class Teller {
  readonly #open = new Map<string, OpenRequest>()
  readonly #waits = createClientWaits()
  #rows = 0
  readonly #clock = new RecordClock()
  #isBegun = false
  #next = 0

  tell(record: TapeRecord): Told[] {
    if (record.type === 'meta' && !this.#isBegun) {
      this.#isBegun = true
      this.#clock.begin(record.startedAt)
    }
    if (record.type !== 'message') {
      const us = record.type === 'unknown' || record.type === 'meta' ? 0 : this.#usOf(record)
      return [{ kind: 'other', record, us }]
    }
    const us = this.#usOf(record)
    const first = record.seq ?? this.#next
    this.#next = first + record.parts.length
    if (record.parts.length === 1) return [this.#tellPart(record, record.parts[0]!, first, us)]
    return record.parts.map((part, i) => this.#tellPart(record, part, first + i, us))
  }

  #usOf(record: Exclude<TapeRecord, { type: 'unknown' | 'meta' }>): number | undefined {
    if ('untimed' in record) return undefined
    return this.#clock.usOf(record)
  }

  #tellPart(record: MessageRecord, part: Part, seq: number, us: number | undefined): ToldMessage {
    const { envelope, correlatedId, id } = part
    const row = this.#rows
    this.#rows += 1
    const request = correlatedId === undefined ? undefined : this.#open.get(correlatedId)
    if (request) this.#open.delete(correlatedId!)
    const lent = record instanceof LentMessage ? record : undefined
    const text = lent ? '' : record.raw.slice(part.start, part.end)
    const sizeBytes = part.sizeBytes ?? utf8Length(text)
    // All members at once, for speed: recordings have millions of messages.
    const told: Draft<ToldMessage> = {
      kind: 'message',
      record,
      part,
      seq,
      us,
      latencyUs: undefined,
      text,
      encoded: lent?.encoded,
      sizeBytes,
      request,
    }
    // A response given by a person has no latency of the other side.
    if (us !== undefined && request?.us !== undefined && !record.injected)
      told.latencyUs = Math.max(0, us - request.us - this.#waitedFor(request, us, record))
    if (us !== undefined) {
      const passedOnUs = us + (record.heldMs ?? 0) * 1000
      if (request?.fromServer) this.#waits.ended(request.row, passedOnUs)
      if (part.links)
        for (const { kind, to } of part.links)
          if (kind === 'cancel') this.#waits.ended(this.#open.get(to)?.row ?? -1, passedOnUs)
    }
    if (envelope.kind === 'request') this.#noteWait(record, envelope, row, us)
    if (envelope.kind === 'request' && id !== undefined) {
      if (this.#open.size >= mostOpen)
        for (const oldest of this.#open.keys()) if (this.#open.delete(oldest)) break
      this.#open.set(id, {
        row,
        fromServer: record.direction === 'server_to_client',
        seq,
        us: us === undefined ? undefined : us + (record.heldMs ?? 0) * 1000,
        envelope: askedIn(envelope),
        conversation: record.conversation,
      })
    }
    return told
  }

  /** For a server: time it waited for its client before it answered. */
  #waitedFor(
    { row, fromServer, us = 0 }: OpenRequest,
    answerUs: number,
    { conversation = '' }: MessageRecord,
  ): number {
    return fromServer ? 0 : this.#waits.within(row, us, answerUs, () => conversation)
  }

  #noteWait(
    { direction, conversation = '', http, injected }: MessageRecord,
    { method }: Envelope,
    row: number,
    us: number | undefined,
  ): void {
    const exchange = http?.exchange ?? -1
    if (direction === 'client_to_server') {
      if (exchange >= 0) this.#waits.carried(exchange, row)
    } else if (us !== undefined && method !== 'ping' && !injected)
      this.#waits.asked(row, us, { exchange, conversation })
  }
}

/** The remembered parts of a request. */
function askedIn({ method, subject, id }: Envelope): OpenRequest['envelope'] {
  const asked: Draft<OpenRequest['envelope']> = {}
  if (method !== undefined) asked.method = method
  if (subject !== undefined) asked.subject = subject
  if (id !== undefined) asked.id = id
  return asked
}

/** The first line of a recording, if any. */
export async function metaOf(recording: Recording): Promise<MetaRecord | undefined> {
  for await (const record of recording.records()) return record.type === 'meta' ? record : undefined
  return undefined
}
