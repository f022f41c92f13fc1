import {
  isUnanswered,
  type EntryTable,
  type HeldRecord,
  type MessageRecord,
  type Part,
  type TapeRecord,
  type Transport,
} from '../model/index.js'
import type { FilterSubject, SubjectFinding, SubjectFlag, SubjectStatus } from './subject.js'

/** A row of a recording, with what its record says. */
export interface RecordedRow {
  readonly entries: EntryTable
  readonly row: number
  readonly record: TapeRecord
  /** Of a message. */
  readonly part?: Part
  /** What the request was about, of an answer whose request is known. */
  readonly request?: { readonly method: string; readonly subject?: string }
  readonly transport: Transport | null
  /** What rules found in the row, where they were run. */
  readonly findings?: readonly SubjectFinding[]
}

/** What a filter sees of a row. An answer has the method and the name of its request. */
export function rowSubject(recorded: RecordedRow): FilterSubject {
  return new RowSubject(recorded)
}

class RowSubject implements FilterSubject {
  readonly #of: RecordedRow

  constructor(of: RecordedRow) {
    this.#of = of
  }

  get kind(): FilterSubject['kind'] {
    return this.#of.entries.kind(this.#of.row)
  }

  get direction(): FilterSubject['direction'] {
    const { entries, row, record } = this.#of
    if (record.type === 'stderr') return null
    return record.type === 'gap' ? (record.direction ?? null) : entries.direction(row)
  }

  get method(): string | null {
    return this.#of.part?.envelope.method ?? this.#of.request?.method ?? null
  }

  get name(): string | null {
    const { part, request } = this.#of
    return part?.envelope.subject ?? request?.subject ?? null
  }

  get id(): string | null {
    return this.#of.part?.envelope.id ?? null
  }

  get sequence(): number | null {
    const seq = this.#of.entries.seq(this.#of.row)
    return seq < 0 ? null : seq
  }

  get status(): SubjectStatus | null {
    const { entries, row } = this.#of
    const kind = entries.kind(row)
    if (kind === 'result' || kind === 'error') return statusOf(entries, row)
    if (kind !== 'request') return null
    if (entries.has(row, 'cancelled')) return 'cancelled'
    const answer = entries.peer(row)
    if (answer >= 0) return statusOf(entries, answer)
    return isUnanswered(entries, row) ? 'unanswered' : null
  }

  get httpStatus(): number | null {
    const { record } = this.#of
    if (record.type === 'http') return record.status ?? null
    return isFrame(record) ? (record.http?.status ?? null) : null
  }

  get errorCode(): string | null {
    return this.#of.part?.envelope.errorCode ?? null
  }

  get latencyMs(): number | null {
    const { entries, row } = this.#of
    const peer = entries.peer(row)
    if (peer < 0) return null
    const us = entries.latencyUs(entries.kind(row) === 'request' ? peer : row)
    return us === undefined ? null : us / 1000
  }

  get sizeBytes(): number {
    return this.#of.entries.size(this.#of.row)
  }

  get timeMs(): number | null {
    const { record } = this.#of
    const { entries, row } = this.#of
    if (entries.has(row, 'untimed')) return null
    const ms = Date.parse(record.type === 'unknown' ? '' : (record.t ?? ''))
    return Number.isNaN(ms) ? null : ms
  }

  get conversation(): string | null {
    const { record } = this.#of
    return isFrame(record) || record.type === 'http' ? (record.conversation ?? null) : null
  }

  get transport(): Transport | null {
    return this.#of.transport
  }

  get rule(): string | null {
    const { record } = this.#of
    return isFrame(record) || record.type === 'dropped' ? (record.rule ?? null) : null
  }

  get findings(): readonly SubjectFinding[] {
    return this.#of.findings ?? none
  }

  is(flag: SubjectFlag): boolean {
    const { entries, row } = this.#of
    if (flag === 'unanswered') return isUnanswered(entries, row)
    return entries.has(row, flag === 'tool-error' ? 'toolError' : flag)
  }

  raw(): string | null {
    const { record, part } = this.#of
    if (isFrame(record)) return part ? record.raw.slice(part.start, part.end) : record.raw
    if (record.type === 'noise' || record.type === 'stderr') return record.text
    return record.type === 'http' ? (record.body ?? null) : null
  }
}

const none: readonly SubjectFinding[] = []

function statusOf(entries: EntryTable, answer: number): SubjectStatus {
  return entries.kind(answer) === 'error' || entries.has(answer, 'toolError') ? 'error' : 'ok'
}

function isFrame(record: TapeRecord): record is MessageRecord | HeldRecord {
  return record.type === 'message' || record.type === 'held'
}
