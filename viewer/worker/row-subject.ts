import type { FilterSubject, SubjectFinding, SubjectFlag, SubjectStatus } from '../../src/filter/index.js'
import {
  createOrigins,
  isUnanswered,
  type Direction,
  type EntryKind,
  type Transport,
} from '../../src/model/index.js'
import type { FindingsByRow } from '../../src/findings/index.js'
import type { LaneIndex } from './lane.js'

/** What a filter sees of a row, from columns; the text of its message is put in by whoever has it at hand. */
export class RowSubject implements FilterSubject {
  readonly #lane: LaneIndex
  readonly #originOf: ReturnType<typeof createOrigins> | undefined
  row = 0
  text: string | null = null
  /** What rules found, where the filter asks for it. */
  found: FindingsByRow | undefined

  constructor(lane: LaneIndex) {
    this.#lane = lane
    const [session] = lane.fold.sessions
    this.#originOf = session && createOrigins(session)
  }

  get kind(): EntryKind | 'note' {
    return this.#lane.isNote(this.row) ? 'note' : this.#lane.fold.entries.kind(this.row)
  }

  get direction(): Direction | null {
    const { kind } = this
    return kind === 'stderr' || kind === 'gap' || kind === 'note'
      ? null
      : this.#lane.fold.entries.direction(this.row)
  }

  get method(): string | null {
    return this.#wordOf('method')
  }

  get name(): string | null {
    return this.#wordOf('subject')
  }

  /** Its own, or of an answer that of its request. */
  #wordOf(column: 'method' | 'subject'): string | null {
    const kind = this.kind
    if (kind === 'request' || kind === 'notification')
      return this.#lane.word(this.#lane[column](this.row)) || null
    if (kind !== 'result' && kind !== 'error') return null
    const request = this.#lane.fold.entries.peer(this.row)
    return request < 0 ? null : this.#lane.word(this.#lane[column](request)) || null
  }

  get id(): string | null {
    return this.#lane.id(this.row) || null
  }

  get sequence(): number | null {
    const seq = this.#lane.fold.entries.seq(this.row)
    return seq < 0 ? null : seq
  }

  get status(): SubjectStatus | null {
    const { entries } = this.#lane.fold
    const { row, kind } = this
    if (kind === 'result' || kind === 'error') return this.#statusOf(row)
    if (kind !== 'request') return null
    if (entries.has(row, 'cancelled')) return 'cancelled'
    const answer = entries.peer(row)
    if (answer >= 0) return this.#statusOf(answer)
    return isUnanswered(entries, row) ? 'unanswered' : null
  }

  #statusOf(answer: number): SubjectStatus {
    const { entries } = this.#lane.fold
    return entries.kind(answer) === 'error' || entries.has(answer, 'toolError') ? 'error' : 'ok'
  }

  get httpStatus(): number | null {
    return this.#lane.httpStatus(this.row) || null
  }

  get errorCode(): string | null {
    if (this.kind !== 'error') return null
    const note = this.#lane.word(this.#lane.note(this.row))
    return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?= |$)/.exec(note)?.[0] ?? null
  }

  get latencyMs(): number | null {
    const { entries } = this.#lane.fold
    const peer = entries.peer(this.row)
    if (peer < 0 || this.#lane.at(this.row) === 0) return null
    const us = entries.latencyUs(this.kind === 'request' ? peer : this.row)
    return us === undefined ? null : us / 1000
  }

  get sizeBytes(): number {
    return this.#lane.fold.entries.size(this.row)
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

  is(flag: SubjectFlag): boolean {
    const { entries } = this.#lane.fold
    if (flag === 'unanswered') return isUnanswered(entries, this.row)
    return entries.has(this.row, flag === 'tool-error' ? 'toolError' : flag)
  }

  raw(): string | null {
    return this.text
  }
}

const none: readonly SubjectFinding[] = []
