import { ColumnSubject, type FilterSubject, type SubjectFinding } from '../../src/filter/index.js'
import {
  createOrigins,
  type Direction,
  type EntryKind,
  type EntryTable,
  type Transport,
} from '../../src/model/index.js'
import type { FindingsByRow } from '../../src/findings/index.js'
import type { LaneIndex } from './lane.js'

/** A row as filters see it, from columns; the caller supplies the message's text. */
export class RowSubject extends ColumnSubject implements FilterSubject {
  readonly #lane: LaneIndex
  readonly #originOf: ReturnType<typeof createOrigins> | undefined
  row = 0
  text: string | null = null
  /** Findings, if the filter needs them. */
  found: FindingsByRow | undefined

  constructor(lane: LaneIndex) {
    super()
    this.#lane = lane
    const [session] = lane.fold.sessions
    this.#originOf = session && createOrigins(session)
  }

  protected get entries(): EntryTable {
    return this.#lane.fold.entries
  }

  get kind(): EntryKind | 'note' {
    return this.#lane.isNote(this.row) ? 'note' : this.entries.kind(this.row)
  }

  get direction(): Direction | null {
    const { kind } = this
    return kind === 'stderr' || kind === 'gap' || kind === 'note' ? null : this.entries.direction(this.row)
  }

  get method(): string | null {
    return this.#wordOf('method')
  }

  get name(): string | null {
    return this.#wordOf('subject')
  }

  /** The row's own word; for a response, that of its request. */
  #wordOf(column: 'method' | 'subject'): string | null {
    const kind = this.kind
    if (kind === 'request' || kind === 'notification')
      return this.#lane.word(this.#lane[column](this.row)) || null
    if (kind !== 'result' && kind !== 'error') return null
    const request = this.entries.peer(this.row)
    return request < 0 ? null : this.#lane.word(this.#lane[column](request)) || null
  }

  get id(): string | null {
    return this.#lane.id(this.row) || null
  }

  get httpStatus(): number | null {
    return this.#lane.httpStatus(this.row) || null
  }

  get errorCode(): string | null {
    if (this.kind !== 'error') return null
    const note = this.#lane.word(this.#lane.note(this.row))
    return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?= |$)/.exec(note)?.[0] ?? null
  }

  override get latencyMs(): number | null {
    return this.#lane.at(this.row) === 0 ? null : super.latencyMs
  }

  get timeMs(): number | null {
    const at = this.#lane.at(this.row)
    return at > 0 ? at / 1000 : null
  }

  get conversation(): string | null {
    return this.#lane.word(this.#lane.conversation(this.row)) || null
  }

  get transport(): Transport | null {
    return this.#originOf?.(this.conversation ?? undefined).transport ?? null
  }

  get rule(): string | null {
    return this.#lane.word(this.#lane.rule(this.row)) || null
  }

  get findings(): readonly SubjectFinding[] {
    return this.found?.at(this.row) ?? none
  }

  raw(): string | null {
    return this.text
  }
}

const none: readonly SubjectFinding[] = []
