import { countsOf, type Counts } from './counts.js'
import { EntryTable, entryFlag } from './entry-table.js'
import { isAnswer, isNamelessError, type Direction } from './envelope.js'
import { createRecordCorrelator } from './held-together.js'
import { IdTable } from './id-table.js'
import { isEndpointEvent } from './legacy-sse.js'
import { eraOfMethod } from './protocol.js'
import { isNextOf, madeMeta } from './made-meta.js'
import type { PlainMessage } from './plain-message.js'
import { isLoneRecord, loneFacts } from './record-types.js'
import { RestartAnswers } from './restart-answers.js'
import { createHttpOutcomes } from './http-outcomes.js'
import { createRowWaits } from './row-waits.js'
import { TaskEnds } from './task-ends.js'
import { RecordClock } from './record-clock.js'
import { utf8Length } from './utf8-length.js'
import type {
  DroppedRecord,
  EndRecord,
  FrameRecord,
  HeldRecord,
  HttpRecord,
  LinkKind,
  LoneRecord,
  MessageRecord,
  MetaRecord,
  Part,
  TapeRecord,
} from './record.js'
import {
  beginSession,
  eraOfEnvelope,
  noTime,
  noteEra,
  notePeer,
  type Session,
  type SessionDraft,
} from './session.js'

/** Records in, one read-only model out. Holds no payload. */
export interface Fold {
  /**
   * Takes the next record, in file order. Returns its rows, `first` to `first + count - 1`: new rows, or those of
   * a held message that is now forwarded.
   */
  push(record: TapeRecord): { readonly first: number; readonly count: number }
  /** As `push`, without a record object. Returns the row, or -1 when it must be pushed as a record. */
  pushPlain(message: PlainMessage): number
  /** The current session was recorded by wiretape, so that its messages have ids and relations. */
  readonly isOwn: boolean
  /** The row of a message that the recorder gave this id; -1 for none. */
  rowOf(id: string): number
  readonly entries: EntryTable
  readonly sessions: readonly Session[]
  /** Computed on each call: O(rows). */
  counts(): Counts
}

const nothing = { first: 0, count: 0 }
/**
 * Turns appended records into sessions and rows. Links stored by the recorder are trusted, since it saw the
 * messages before redaction; recordings of other tools are correlated here.
 *
 * @param idKey canonical form of a JSON-RPC id's exact text, as for `Correlator`
 * @param changed called for earlier rows that a later record changes
 * @param rows that are expected: a table that grows is copied
 */
export function createFold(
  idKey: (idText: string) => string,
  changed?: (row: number) => void,
  rows?: number,
): Fold {
  return new RecordFold(idKey, changed, rows)
}

class RecordFold implements Fold {
  readonly #idKey: (idText: string) => string
  readonly #entries: EntryTable
  readonly #ids = new IdTable()
  readonly #sessions: SessionDraft[] = []
  /** Made when needed: our own recorder has correlated its messages. */
  #correlate: ReturnType<typeof createRecordCorrelator<number>> | undefined
  /** Lines before any meta line: a tape that lost its start. */
  readonly #unnamed = { own: true, nextSeq: 0 }
  /** Rows of held messages, by the id of a frame's first message. */
  readonly #waiting = new Map<string, { readonly first: number; readonly count: number }>()
  /** Held responses to injected requests, by the id of a frame's first message. */
  readonly #ownAnswers = new Map<string, HeldRecord>()
  readonly #httpOutcomes
  readonly #waits
  readonly #taskEnds: TaskEnds<FrameRecord | PlainMessage>
  readonly #clock = new RecordClock()
  #gaps = 0
  #restarts = 0
  #restartAnswers = this.#answersOfRestarts()
  #lost = 0

  constructor(idKey: (idText: string) => string, changed?: (row: number) => void, rows?: number) {
    this.#idKey = idKey
    this.#entries = new EntryTable(changed, rows)
    this.#httpOutcomes = createHttpOutcomes(this.#entries)
    this.#waits = createRowWaits(this.#entries)
    this.#taskEnds = new TaskEnds(this.#entries, this.#waits.taskEnded)
  }

  get entries(): EntryTable {
    return this.#entries
  }

  get sessions(): readonly Session[] {
    return this.#sessions
  }

  counts(): Counts {
    return { ...countsOf(this.#entries), gaps: this.#gaps, lost: this.#lost, restarts: this.#restarts }
  }

  get isOwn(): boolean {
    return (this.#sessions.at(-1) ?? this.#unnamed).own
  }

  rowOf(id: string): number {
    return this.#ids.get(id)
  }

  push(record: TapeRecord): { readonly first: number; readonly count: number } {
    const made = this.#sessions.length === 0 ? madeMeta(record) : undefined
    if (made) this.#pushMeta(made)
    if (isLoneRecord(record)) return this.#pushLone(record)
    switch (record.type) {
      case 'meta':
        this.#pushMeta(record)
        return nothing
      case 'end':
        this.#pushEnd(record)
        return nothing
      case 'message':
        return this.#pushMessage(record)
      case 'held':
        return this.#pushHeld(record)
      case 'dropped':
        return this.#pushDropped(record)
      case 'undelivered': {
        const row = this.#ids.get(record.id)
        if (row >= 0) this.#entries.mark(row, 'undelivered')
        return nothing
      }
      case 'note':
        if (!record.restart) return nothing
        this.#restarts += 1
        this.#restartAnswers.restarted(record.restart.unanswered)
        return nothing
      case 'unknown':
        return nothing
    }
  }

  #answersOfRestarts(): RestartAnswers {
    return new RestartAnswers((row) => this.#entries.mark(row, 'injected'))
  }

  #pushMeta(meta: MetaRecord): void {
    const identity = meta.wiretape
    const before = this.#sessions.at(-1)
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
    this.#correlate = undefined
    this.#waits.begin()
    this.#restartAnswers = this.#answersOfRestarts()
    this.#clock.begin(meta.startedAt)
    this.#sessions.push(beginSession(meta, this.#sessions.length + 1))
  }

  #pushEnd(end: EndRecord): void {
    const session = this.#sessions.at(-1)
    if (!session) return
    session.complete = end.wiretape?.rotated !== true
    session.continues = !session.complete
    // A segment that continues elsewhere does not show how the server ended.
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

  /** NaN when the recording has no times. */
  #usOf(record: { t: string; us?: number }): number {
    return this.#clock.usOf(record) ?? NaN
  }

  #pushMessage(record: MessageRecord): { first: number; count: number } {
    if (this.#waiting.size > 0) {
      const id = record.parts[0]?.id ?? ''
      const held = this.#waiting.get(id)
      if (held && held.count === record.parts.length) {
        this.#waiting.delete(id)
        this.#ownAnswers.delete(id)
        record.parts.forEach((part, i) => this.#releasePart(record, part, held.first + i))
        return held
      }
    }
    const first = this.#entries.length
    const us = this.#usOf(record)
    let flags = record.modified ? entryFlag.modified : 0
    if (record.injected) flags |= entryFlag.injected
    if (record.untimed) flags |= entryFlag.untimed
    record.parts.forEach((part, i) => this.#relate(record, part, this.#addPart(record, part, i, us, flags)))
    return { first, count: record.parts.length }
  }

  /**
   * A held response or progress is only linked to its request until it is forwarded: a dropped response leaves the request unanswered.
   * Responses to injected requests are the exception: they are never forwarded, and answer their request.
   */
  #pushHeld(record: HeldRecord): { first: number; count: number } {
    let isOwn = false
    const rows = { first: this.#entries.length, count: record.parts.length }
    const us = this.#usOf(record)
    for (const [i, part] of record.parts.entries()) {
      const row = this.#addPart(record, part, i, us, entryFlag.held | entryFlag.waiting)
      if (part.id !== undefined) this.#ids.set(part.id, row)
      const to = part.correlatedId ?? part.links?.find(({ kind }) => kind === 'progress')?.to
      const request = to === undefined ? -1 : this.#ids.get(to)
      if (request >= 0) this.#entries.link(row, request)
      if (request >= 0 && isAnswer(part.envelope) && this.#entries.has(request, 'injected')) isOwn = true
    }
    const id = record.parts[0]?.id
    if (id !== undefined) this.#waiting.set(id, rows)
    if (id !== undefined && isOwn) this.#ownAnswers.set(id, record)
    return rows
  }

  #pushDropped({ id }: DroppedRecord): { first: number; count: number } {
    const rows = this.#waiting.get(id)
    if (!rows) return nothing
    this.#waiting.delete(id)
    const ownAnswers = this.#ownAnswers.get(id)
    this.#ownAnswers.delete(id)
    for (let row = rows.first; row < rows.first + rows.count; row += 1) {
      this.#entries.unmark(row, 'waiting')
      this.#entries.mark(row, 'dropped')
      const request = ownAnswers ? this.#entries.linked(row) : -1
      if (request >= 0 && this.#entries.has(request, 'injected'))
        this.#answer(request, row, ownAnswers!.parts[row - rows.first]!.late === true, ownAnswers!)
    }
    return nothing
  }

  #releasePart(record: MessageRecord, part: Part, row: number): void {
    const sizeBytes = part.sizeBytes ?? utf8Length(record.raw, part.start, part.end)
    this.#entries.release(row, { kind: part.envelope.kind, sizeBytes, heldMs: record.heldMs ?? 0 })
    if (record.modified) this.#entries.mark(row, 'modified')
    if (part.envelope.toolError) this.#entries.mark(row, 'toolError')
    this.#relate(record, part, row)
  }

  #addPart(record: MessageRecord | HeldRecord, part: Part, i: number, us: number, more: number): number {
    const { envelope } = part
    let flags = directionFlag(record.direction) | more
    if (record.batch) flags |= entryFlag.batch
    if (envelope.toolError) flags |= entryFlag.toolError
    if (envelope.method === 'subscriptions/listen') flags |= entryFlag.stream
    const session = this.#sessions.at(-1) ?? this.#unnamed
    const seq = record.seq === undefined ? session.nextSeq : record.seq + i
    session.nextSeq = seq + 1
    const sizeBytes = part.sizeBytes ?? utf8Length(record.raw, part.start, part.end)
    const row = this.#entries.add({ kind: envelope.kind, us, seq, sizeBytes, flags })
    if (envelope.kind === 'request') this.#waits.requested(row, envelope.method, record)
    return row
  }

  #relate(record: MessageRecord, part: Part, row: number): void {
    const session = this.#sessions.at(-1) ?? this.#unnamed
    // On a line of another recorder, `id` has that recorder's meaning.
    if (part.id === undefined || !session.own) this.#relateByContent(record, part, row)
    else this.#relateByRecord(record, part, row)
    this.#noteProtocol(part, record.direction)
    if (record.http && record.direction === 'server_to_client') this.#restartAnswers.take(row, part.envelope)
    this.#httpOutcomes.carried(this.#sessions.length, record, part, row)
    this.#taskEnds.take(row, part.envelope, record)
  }

  #noteHttp(record: HttpRecord): void {
    const session = this.#sessions.at(-1)
    if (session?.transport === 'streamable-http' && isEndpointEvent(record)) session.transport = 'sse'
    this.#httpOutcomes.ended(this.#sessions.length, record)
  }

  #relateByRecord(record: MessageRecord, part: Part, row: number): void {
    if (part.correlatedId !== undefined)
      this.#answer(this.#ids.get(part.correlatedId), row, part.late === true, record)
    else if (isOrphan(record, part)) this.#entries.mark(row, 'orphan')
    this.#ids.set(part.id!, row)
    if (part.duplicateOf !== undefined) this.#duplicate(this.#ids.get(part.duplicateOf), row)
    for (const { kind, to } of part.links ?? []) this.#link(kind, row, this.#ids.get(to))
  }

  pushPlain(message: PlainMessage): number {
    const session = this.#sessions.at(-1)
    // A held message may be the one forwarded here; ids of other recorders mean something else.
    if (!session?.own || this.#waiting.size > 0) return -1
    const { kind, method, sizeBytes, bytes } = message
    // The recorder itself may have sent this error: its text shows that.
    if (kind === 'error' && message.httpExchange >= 0) return -1
    const era = eraOfMethod(method)
    // The end of its HTTP exchange gives more information.
    if (era === 'modern') return -1
    let flags = message.fromServer ? entryFlag.fromServer : 0
    if (message.toolError) flags |= entryFlag.toolError
    const row = this.#entries.add({ kind, us: message.us, seq: message.seq, sizeBytes, flags })
    session.nextSeq = message.seq + 1
    if (kind === 'request') this.#waits.requested(row, method, message)
    if (message.corrStart >= 0)
      this.#answer(this.#ids.getBytes(bytes, message.corrStart, message.corrEnd), row, message.late, message)
    else if (isAnswer(message)) this.#entries.mark(row, 'orphan')
    if (isAnswer(message)) this.#taskEnds.take(row, undefined, message)
    this.#ids.setBytes(bytes, message.idStart, message.idEnd, row)
    noteEra(session, era)
    return row
  }

  #relateByContent(record: MessageRecord, part: Part, row: number): void {
    this.#correlate ??= createRecordCorrelator<number>(this.#idKey)
    const seen = this.#correlate(record, part.envelope, row)
    if (seen.answers !== undefined) this.#answer(seen.answers, row, seen.late === true, record)
    else if (isOrphan(record, part)) this.#entries.mark(row, 'orphan')
    if (seen.duplicateOf !== undefined) this.#duplicate(seen.duplicateOf, row)
    for (const { kind, to } of seen.links) this.#link(kind, row, to)
  }

  #answer(request: number, row: number, late: boolean, message: FrameRecord | PlainMessage): void {
    if (late) this.#entries.mark(row, 'late')
    if (request < 0) return
    this.#entries.pair(request, row)
    this.#entries.mark(request, 'answered')
    this.#waits.answered(request, row, message)
  }

  #duplicate(earlier: number, row: number): void {
    this.#entries.mark(row, 'duplicate')
    if (earlier >= 0) this.#entries.mark(earlier, 'duplicate')
  }

  #link(kind: LinkKind, row: number, request: number): void {
    if (request < 0) return
    if (this.#entries.linked(row) < 0) this.#entries.link(row, request)
    if (kind !== 'cancel') return
    this.#entries.mark(request, 'cancelled')
    this.#waits.cancelled(request, row)
  }

  #noteProtocol(part: Part, direction: Direction): void {
    const session = this.#sessions.at(-1)
    if (!session) return
    const { envelope } = part
    if (envelope.protocolVersion !== undefined) session.protocolVersion = envelope.protocolVersion
    if (envelope.peer) notePeer(session, direction, envelope.peer)
    noteEra(session, eraOfEnvelope(envelope))
  }

  #pushLone(record: LoneRecord): { first: number; count: number } {
    const { direction, sizeBytes } = loneFacts(record)
    let flags = directionFlag(direction ?? 'server_to_client')
    if (record.type === 'http') this.#noteHttp(record)
    if (record.type === 'gap') {
      this.#gaps += 1
      this.#lost += record.lost
      flags = directionFlag(direction ?? 'client_to_server')
    }
    return {
      first: this.#entries.add({ kind: record.type, us: this.#usOf(record), seq: -1, sizeBytes, flags }),
      count: 1,
    }
  }
}

/** An error without an id in an HTTP response answers the HTTP request, like a 405 to a GET. */
function isOrphan({ http }: MessageRecord, { envelope }: Part): boolean {
  return isAnswer(envelope) && !(http && isNamelessError(envelope))
}

function directionFlag(direction: Direction): number {
  return direction === 'server_to_client' ? entryFlag.fromServer : 0
}
