import { countsOf, type Counts } from './counts.js'
import { createEntryTable, entryFlag, type EntryTable } from './entry-table.js'
import { isAnswer, isNamelessError, type Direction } from './envelope.js'
import { createRecordCorrelator } from './held-together.js'
import { createIdTable } from './id-table.js'
import { isEndpointEvent } from './legacy-sse.js'
import { eraOfMethod } from './protocol.js'
import { isNextOf, madeMeta } from './made-meta.js'
import type { PlainMessage } from './plain-message.js'
import { isLoneRecord, loneFacts } from './record-types.js'
import { RestartAnswers } from './restart-answers.js'
import { createRowWaits } from './row-waits.js'
import { createRecent } from './recent.js'
import { RecordClock } from './record-clock.js'
import { utf8Length } from './utf8-length.js'
import type {
  DroppedRecord,
  EndRecord,
  HeldRecord,
  HttpRecord,
  LinkKind,
  LoneRecord,
  MessageRecord,
  MetaRecord,
  Part,
  TapeRecord,
} from './record.js'
import { eraOfEnvelope, noTime, noteEra, notePeer, type Session, type SessionDraft } from './session.js'

/** Records in, one read-only model out. Holds no payload. */
export interface Fold {
  /**
   * Takes the next record, in file order. Returns the rows it speaks of, `first` to `first + count - 1`: they were
   * added, unless they are those of a held message that is passed on now.
   */
  push(record: TapeRecord): { readonly first: number; readonly count: number }
  /** The same for a message of which no object was made. Returns its row, or -1: it must be pushed as a record. */
  pushPlain(message: PlainMessage): number
  /** The row of a message that the recorder gave this id; -1 for none. */
  rowOf(id: string): number
  readonly entries: EntryTable
  readonly sessions: readonly Session[]
  /** Computed when asked for: O(rows). */
  counts(): Counts
}

const nothing = { first: 0, count: 0 }
/**
 * Appended records become sessions and rows. Links that the recorder stored are believed, since it saw the
 * messages before redaction; recordings of other tools are correlated here.
 *
 * @param idKey canonical form of a JSON-RPC id's exact text, as for `createCorrelator`
 * @param changed is told of rows that a later record says something about
 */
export function createFold(idKey: (idText: string) => string, changed?: (row: number) => void): Fold {
  const entries = createEntryTable(changed)
  const ids = createIdTable()
  const sessions: SessionDraft[] = []
  let correlate = createRecordCorrelator<number>(idKey)
  /** Lines before any meta line: a tape that lost its start. */
  const unnamed = { own: true, nextSeq: 0 }
  /** Rows of the messages that are held, by the id of the first of a frame. */
  const waiting = new Map<string, { readonly first: number; readonly count: number }>()
  /** Of those, requests of ours that are answered by them. */
  const answeredBy = new Map<string, readonly number[]>()
  /** Requests of the modern era, by session and HTTP exchange: there, a client that closes the stream cancels. */
  const streamed = createRecent<number>({ entries: 10_000 })
  /** Requests that ask which era or transport a server speaks, by session and HTTP exchange. */
  const probes = createRecent<number>({ entries: 10_000 })
  const waits = createRowWaits(entries)
  const clock = new RecordClock()
  let gaps = 0
  let restarts = 0
  let restartAnswers = answersOfRestarts()
  let lost = 0

  function answersOfRestarts(): RestartAnswers {
    return new RestartAnswers((row) => entries.mark(row, 'injected'))
  }

  function pushMeta(meta: MetaRecord): void {
    const identity = meta.wiretape
    const before = sessions.at(-1)
    const isSame = identity ? before?.id === identity.session : isNextOf(before, meta)
    if (before && isSame) {
      before.segments.push(identity?.segment ?? before.segments.length)
      before.complete = false
      before.continues = false
      before.endedAt = null
      delete before.recovered
      delete before.exitCode
      delete before.durationMs
      return
    }
    correlate = createRecordCorrelator<number>(idKey)
    waits.begin()
    restartAnswers = answersOfRestarts()
    clock.begin(meta.startedAt)
    sessions.push({
      id: identity?.session ?? `session-${sessions.length + 1}`,
      label: meta.label,
      startedAt: meta.startedAt,
      started: Date.parse(meta.startedAt),
      own: identity !== undefined || meta.made === true,
      nextSeq: 0,
      endedAt: null,
      transport: identity?.transport ?? 'stdio',
      command: meta.command,
      url: identity?.url ?? null,
      metadata: identity?.metadata ?? [],
      ...(identity?.origin !== undefined && { origin: identity.origin }),
      redaction: identity?.redaction ?? 'none',
      segments: [identity?.segment ?? 0],
      complete: false,
      continues: false,
      eras: [],
      clients: [],
    })
  }

  function pushEnd(end: EndRecord): void {
    const session = sessions.at(-1)
    if (!session) return
    session.complete = end.wiretape?.rotated !== true
    session.continues = !session.complete
    // A segment that goes on elsewhere says nothing about how the server ended.
    if (session.continues) return
    session.endedAt = end.t === '' ? null : end.t
    if (end.wiretape?.recovered) session.recovered = true
    else if (end.exitCode !== null) session.exitCode = end.exitCode
    const isTimed = session.startedAt !== noTime || end.t !== noTime
    if (end.durationMs !== null && isTimed) session.durationMs = end.durationMs
    if (end.wiretape?.redacted) session.redacted = end.wiretape.redacted
    if (end.wiretape?.signal !== undefined) session.signal = end.wiretape.signal
    if (end.wiretape?.error !== undefined) session.error = end.wiretape.error
  }

  /** NaN where the recording has no times. */
  function usOf(record: { t: string; us?: number }): number {
    return clock.usOf(record) ?? NaN
  }

  function pushMessage(record: MessageRecord): { first: number; count: number } {
    if (waiting.size > 0) {
      const id = record.parts[0]?.id ?? ''
      const held = waiting.get(id)
      if (held && held.count === record.parts.length) {
        waiting.delete(id)
        answeredBy.delete(id)
        record.parts.forEach((part, i) => releasePart(record, part, held.first + i))
        return held
      }
    }
    const first = entries.length
    const us = usOf(record)
    let flags = record.modified ? entryFlag.modified : 0
    if (record.injected) flags |= entryFlag.injected
    if (record.untimed) flags |= entryFlag.untimed
    record.parts.forEach((part, i) => relate(record, part, addPart(record, part, i, us, flags)))
    return { first, count: record.parts.length }
  }

  /**
   * A held answer is only linked to its request until it is passed on: a dropped one leaves the request unanswered. But
   * not a request of ours: its answer is for us, and goes no further.
   */
  function pushHeld(record: HeldRecord): { first: number; count: number } {
    const asked = record.parts.flatMap(({ correlatedId }) => {
      const row = correlatedId === undefined ? -1 : ids.get(correlatedId)
      return row >= 0 && entries.has(row, 'injected') ? [row] : []
    })
    const rows = { first: entries.length, count: record.parts.length }
    const us = usOf(record)
    for (const [i, part] of record.parts.entries()) {
      const row = addPart(record, part, i, us, entryFlag.held | entryFlag.waiting)
      if (part.id !== undefined) ids.set(part.id, row)
      const request = part.correlatedId === undefined ? -1 : ids.get(part.correlatedId)
      if (request >= 0) entries.link(row, request)
    }
    const id = record.parts[0]?.id
    if (id !== undefined) waiting.set(id, rows)
    if (id !== undefined && asked.length > 0) answeredBy.set(id, asked)
    return rows
  }

  function pushDropped({ id }: DroppedRecord): { first: number; count: number } {
    const rows = waiting.get(id)
    if (!rows) return nothing
    waiting.delete(id)
    for (let row = rows.first; row < rows.first + rows.count; row += 1) {
      entries.unmark(row, 'waiting')
      entries.mark(row, 'dropped')
    }
    for (const row of answeredBy.get(id) ?? []) entries.mark(row, 'answered')
    answeredBy.delete(id)
    return nothing
  }

  function releasePart(record: MessageRecord, part: Part, row: number): void {
    const sizeBytes = part.sizeBytes ?? utf8Length(record.raw, part.start, part.end)
    entries.release(row, { kind: part.envelope.kind, sizeBytes, heldMs: record.heldMs ?? 0 })
    if (record.modified) entries.mark(row, 'modified')
    if (part.envelope.toolError) entries.mark(row, 'toolError')
    relate(record, part, row)
  }

  function addPart(
    record: MessageRecord | HeldRecord,
    part: Part,
    i: number,
    us: number,
    more: number,
  ): number {
    const { envelope } = part
    let flags = directionFlag(record.direction) | more
    if (record.batch) flags |= entryFlag.batch
    if (envelope.toolError) flags |= entryFlag.toolError
    if (envelope.method === 'subscriptions/listen') flags |= entryFlag.stream
    const session = sessions.at(-1) ?? unnamed
    const seq = record.seq === undefined ? session.nextSeq : record.seq + i
    session.nextSeq = seq + 1
    const sizeBytes = part.sizeBytes ?? utf8Length(record.raw, part.start, part.end)
    const row = entries.add({ kind: envelope.kind, us, seq, sizeBytes, flags })
    if (envelope.kind === 'request') waits.requested(row, envelope.method, record)
    return row
  }

  function relate(record: MessageRecord, part: Part, row: number): void {
    const session = sessions.at(-1) ?? unnamed
    // An `id` on a line of another recorder means whatever that one meant by it.
    if (part.id === undefined || !session.own) relateByContent(record, part, row)
    else relateByRecord(record, part, row)
    noteProtocol(part, record.direction)
    const { kind, method } = part.envelope
    if (record.http && record.direction === 'server_to_client') restartAnswers.take(row, part.envelope)
    if (record.http && kind === 'request' && (method === 'initialize' || method === 'server/discover'))
      probes.set(exchangeKey(record.http.exchange), row)
    if (record.http && part.envelope.kind === 'request' && eraOfEnvelope(part.envelope) === 'modern')
      streamed.set(exchangeKey(record.http.exchange), row)
  }

  function exchangeKey(exchange: number): string {
    return `${sessions.length} ${exchange}`
  }

  function noteHttp(record: HttpRecord): void {
    const session = sessions.at(-1)
    if (session?.transport === 'streamable-http' && isEndpointEvent(record)) session.transport = 'sse'
    const request = record.why?.startsWith('client: ')
      ? streamed.get(exchangeKey(record.exchange))
      : undefined
    if (request !== undefined && !entries.has(request, 'answered')) entries.mark(request, 'cancelled')
    // A refusal by HTTP is an answer to such a request: its client goes on in another way.
    const { status = 0 } = record
    const probe = status >= 400 && status < 500 ? probes.get(exchangeKey(record.exchange)) : undefined
    if (probe !== undefined) entries.mark(probe, 'answered')
  }

  function relateByRecord(record: MessageRecord, part: Part, row: number): void {
    if (part.correlatedId !== undefined) answer(ids.get(part.correlatedId), row, part.late === true, record)
    else if (isOrphan(record, part)) entries.mark(row, 'orphan')
    ids.set(part.id!, row)
    if (part.duplicateOf !== undefined) duplicate(ids.get(part.duplicateOf), row)
    for (const { kind, to } of part.links ?? []) link(kind, row, ids.get(to))
  }

  function pushPlain(message: PlainMessage): number {
    const session = sessions.at(-1)
    // What waits may be what is passed on here; other recorders' ids mean something else.
    if (!session?.own || waiting.size > 0) return -1
    const { kind, method, sizeBytes, bytes } = message
    // The recorder may have given it itself: its text says so.
    if (kind === 'error' && message.httpExchange >= 0) return -1
    const era = eraOfMethod(method)
    // How its HTTP exchange ends says more about it.
    if (era === 'modern') return -1
    let flags = message.fromServer ? entryFlag.fromServer : 0
    if (message.toolError) flags |= entryFlag.toolError
    const row = entries.add({ kind, us: message.us, seq: message.seq, sizeBytes, flags })
    session.nextSeq = message.seq + 1
    if (kind === 'request') waits.requested(row, method, message)
    if (message.corrStart >= 0)
      answer(ids.getBytes(bytes, message.corrStart, message.corrEnd), row, message.late, message)
    else if (isAnswer(message)) entries.mark(row, 'orphan')
    ids.setBytes(bytes, message.idStart, message.idEnd, row)
    noteEra(session, era)
    return row
  }

  function relateByContent(record: MessageRecord, part: Part, row: number): void {
    const seen = correlate(record, part.envelope, row)
    if (seen.answers !== undefined) answer(seen.answers, row, seen.late === true, record)
    else if (isOrphan(record, part)) entries.mark(row, 'orphan')
    if (seen.duplicateOf !== undefined) duplicate(seen.duplicateOf, row)
    for (const { kind, to } of seen.links) link(kind, row, to)
  }

  function answer(request: number, row: number, late: boolean, message: MessageRecord | PlainMessage): void {
    if (late) entries.mark(row, 'late')
    if (request < 0) return
    entries.pair(request, row)
    entries.mark(request, 'answered')
    waits.answered(request, row, message)
  }

  function duplicate(earlier: number, row: number): void {
    entries.mark(row, 'duplicate')
    if (earlier >= 0) entries.mark(earlier, 'duplicate')
  }

  function link(kind: LinkKind, row: number, request: number): void {
    if (request < 0) return
    if (entries.linked(row) < 0) entries.link(row, request)
    if (kind !== 'cancel') return
    entries.mark(request, 'cancelled')
    waits.cancelled(request, row)
  }

  function noteProtocol(part: Part, direction: Direction): void {
    const session = sessions.at(-1)
    if (!session) return
    const { envelope } = part
    if (envelope.protocolVersion !== undefined) session.protocolVersion = envelope.protocolVersion
    if (envelope.peer) notePeer(session, direction, envelope.peer)
    noteEra(session, eraOfEnvelope(envelope))
  }

  function pushLone(record: LoneRecord): { first: number; count: number } {
    const { direction, sizeBytes } = loneFacts(record)
    let flags = directionFlag(direction ?? 'server_to_client')
    if (record.type === 'http') noteHttp(record)
    if (record.type === 'gap') {
      gaps += 1
      lost += record.lost
      flags = directionFlag(direction ?? 'client_to_server')
    }
    return {
      first: entries.add({ kind: record.type, us: usOf(record), seq: -1, sizeBytes, flags }),
      count: 1,
    }
  }

  return {
    entries,
    sessions,
    counts: () => ({ ...countsOf(entries), gaps, lost, restarts }),
    pushPlain,
    rowOf: (id) => ids.get(id),
    push(record) {
      const made = sessions.length === 0 ? madeMeta(record) : undefined
      if (made) pushMeta(made)
      if (isLoneRecord(record)) return pushLone(record)
      switch (record.type) {
        case 'meta':
          pushMeta(record)
          return nothing
        case 'end':
          pushEnd(record)
          return nothing
        case 'message':
          return pushMessage(record)
        case 'held':
          return pushHeld(record)
        case 'dropped':
          return pushDropped(record)
        case 'undelivered': {
          const row = ids.get(record.id)
          if (row >= 0) entries.mark(row, 'undelivered')
          return nothing
        }
        case 'note':
          if (!record.restart) return nothing
          restarts += 1
          restartAnswers.restarted(record.restart.unanswered)
          return nothing
        case 'unknown':
          return nothing
      }
    },
  }
}

/** An error without an id in an HTTP response answers the HTTP request, as a 405 to a GET does. */
function isOrphan({ http }: MessageRecord, { envelope }: Part): boolean {
  return isAnswer(envelope) && !(http && isNamelessError(envelope))
}

function directionFlag(direction: Direction): number {
  return direction === 'server_to_client' ? entryFlag.fromServer : 0
}
