import {
  isFrameRecord,
  isLoneRecord,
  loneFacts,
  type EntryTable,
  type Part,
  type TapeRecord,
  type Transport,
} from '../model/index.js'
import { ColumnSubject } from './column-subject.js'
import type { FilterSubject, SubjectFinding } from './subject.js'

/** A row of a recording, with its record. */
export interface RecordedRow {
  readonly entries: EntryTable
  readonly row: number
  readonly record: TapeRecord
  /** For a message. */
  readonly part?: Part
  /** For a response with a known request: that request's method and subject. */
  readonly request?: { readonly method: string; readonly subject?: string }
  readonly transport: Transport | null
  /** Findings in the row, if rules were run. */
  readonly findings?: readonly SubjectFinding[]
}

/** A row as a filter sees it. A response has the method and the name of its request. */
export function rowSubject(recorded: RecordedRow): FilterSubject {
  return new RowSubject(recorded)
}

class RowSubject extends ColumnSubject implements FilterSubject {
  readonly #of: RecordedRow

  constructor(of: RecordedRow) {
    super()
    this.#of = of
  }

  get row(): number {
    return this.#of.row
  }

  protected get entries(): EntryTable {
    return this.#of.entries
  }

  get kind(): FilterSubject['kind'] {
    return this.#of.entries.kind(this.#of.row)
  }

  get direction(): FilterSubject['direction'] {
    const { entries, row, record } = this.#of
    return isLoneRecord(record) ? loneFacts(record).direction : entries.direction(row)
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

  get httpStatus(): number | null {
    const { record } = this.#of
    if (record.type === 'http') return record.status ?? null
    return isFrameRecord(record) ? (record.http?.status ?? null) : null
  }

  get errorCode(): string | null {
    return this.#of.part?.envelope.errorCode ?? null
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
    return isFrameRecord(record) || record.type === 'http' ? (record.conversation ?? null) : null
  }

  get transport(): Transport | null {
    return this.#of.transport
  }

  get rule(): string | null {
    const { record } = this.#of
    return isFrameRecord(record) || record.type === 'dropped' ? (record.rule ?? null) : null
  }

  get findings(): readonly SubjectFinding[] {
    return this.#of.findings ?? none
  }

  raw(): string | null {
    const { record, part } = this.#of
    if (isFrameRecord(record)) return part ? record.raw.slice(part.start, part.end) : record.raw
    return isLoneRecord(record) ? loneFacts(record).text : null
  }
}

const none: readonly SubjectFinding[] = []
