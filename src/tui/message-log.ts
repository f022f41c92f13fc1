import type { HeldEvent, ReleaseOutcome, ServerEvent } from '../control-schema/index.js'
import { rowSubject, type FilterSubject } from '../filter/index.js'
import type { Finding } from '../findings/index.js'
import { decodeLine } from '../formats/index.js'
import {
  isFrameRecord,
  createFold,
  detach,
  hasFailed,
  isUnanswered,
  type Direction,
  type EntryKind,
  type Fold,
  type NoteRecord,
  type Part,
  type TapeRecord,
  type Transport,
} from '../model/index.js'
import { idKey } from '../wire/index.js'
import { FoundLog } from './found-log.js'
import { heldRecordOf } from './held-record.js'
import { RowNotes } from './row-notes.js'
import { RowRecords, type Slot } from './row-records.js'

/** Maximum number of unanswered requests remembered. */
const mostOpen = 10_000

/** The state of a row's message, as marked on the screen. */
export type RowState = 'passed' | 'waiting' | 'dropped' | 'modified' | 'injected' | 'undelivered'

/** One row as shown on the screen. */
export interface LogRow {
  readonly row: number
  readonly kind: EntryKind
  readonly direction: Direction
  readonly record: TapeRecord
  readonly part: Part | undefined
  /** Message number; -1 for other rows. */
  readonly seq: number
  readonly sizeBytes: number
  readonly state: RowState
  /** A JSON-RPC error, a tool's error, or the request that got one. */
  readonly failed: boolean
  readonly unanswered: boolean
  readonly latencyUs: number | undefined
  /** Time for which the server waited for its client; not part of `latencyUs`, mostly 0. */
  readonly waitedUs: number
  /** The other half of the exchange; -1 for none. */
  readonly peer: number
  /** Notes of people about this row. */
  readonly notes: readonly string[]
  /** Findings about this row. */
  readonly findings: readonly Finding[]
  /** For a response: the method and subject of its request. */
  readonly request: { readonly method: string; readonly subject?: string } | undefined
}

/** The rows of a tape so far, and the held messages. An older row takes about 100 bytes of memory. */
export class MessageLog {
  readonly #fold: Fold
  readonly #records = new RowRecords()
  readonly #held = new Map<string, HeldEvent>()
  /** Rows by message id, for messages that are or were held. */
  readonly #heldRows = new Map<string, number>()
  /** Rows of unanswered requests, by message id. */
  readonly #open = new Map<string, number>()
  readonly #transport: Transport
  #faults = 0
  readonly #notes = new RowNotes()
  /** Findings of rules. */
  readonly found: FoundLog
  /** A tape of --strict-v1: its lines do not tell which messages were held. */
  #isStrict = false
  /** All lines that the tape had at first were read. */
  #isLive = false
  #isOver = false

  constructor(transport: Transport) {
    this.#transport = transport
    this.#fold = createFold(idKey)
    this.found = new FoundLog(this.#fold)
  }

  get length(): number {
    return this.#records.length
  }

  /** Lines of the tape that could not be read. */
  get faults(): number {
    return this.#faults
  }

  /** Reads a line of the tape. Returns the new or changed rows. */
  line(text: string): number[] {
    const decoded = decodeLine(text)
    if (!('record' in decoded)) {
      this.#faults += 1
      return []
    }
    return this.push(decoded.record)
  }

  push(record: TapeRecord): number[] {
    if (record.type === 'meta') this.#isStrict = record.wiretape === undefined
    if (record.type === 'note') return this.#noted(record)
    const known = record.type === 'held' ? this.#heldRows.get(record.parts[0]!.id ?? '') : undefined
    if (known !== undefined) return this.#toldAfterAll(record, known)
    const { first, count } = this.#fold.push(record)
    const changed = this.found.take(record, { first, count })
    for (let i = 0; i < count; i += 1) {
      const row = first + i
      this.#records.set(row, { record, part: i })
      changed.push(row)
      const peer = this.#fold.entries.peer(row)
      if (peer >= 0 && peer !== row) changed.push(peer)
      this.#noteOpen(row, peer)
      if (record.type === 'held') this.#heldRows.set(detach(record.parts[i]!.id ?? ''), row)
    }
    if (record.type === 'dropped' || record.type === 'undelivered') {
      const row = this.#heldRows.get(record.id)
      if (row !== undefined) changed.push(row)
    }
    return changed
  }

  /** A note about no particular message belongs to the previous row. */
  #noted({ about, text }: NoteRecord): number[] {
    const found = about === undefined ? -1 : this.#fold.rowOf(about)
    const row = found >= 0 ? found : this.#records.length - 1
    if (row < 0) return []
    this.#notes.add(row, text)
    return [row]
  }

  /** Adds a held message. Returns rows as `line` does, since the tape may not contain it. */
  hold(event: HeldEvent): number[] {
    this.#held.set(event.message, event)
    return this.#isStrict && this.#isLive ? this.#showHeld() : []
  }

  /** All lines that the tape had at first were read. */
  settled(): number[] {
    this.#isLive = true
    return this.#isStrict ? this.#showHeld() : []
  }

  /** Lines were dropped. They may have contained held messages that have no row yet. */
  gap(): number[] {
    return this.#showHeld()
  }

  #toldAfterAll(record: TapeRecord, row: number): number[] {
    const rows = isFrameRecord(record) ? record.parts.map((_, i) => row + i) : []
    for (const [part, at] of rows.entries()) this.#records.set(at, { record, part })
    return rows
  }

  #showHeld(): number[] {
    return [...this.#held.values()].flatMap((event) => {
      if (this.#heldRows.has(event.message)) return []
      const record = heldRecordOf(event)
      if (!record) return []
      this.#records.keepOffDisk(record)
      return this.push(record)
    })
  }

  changeHeld({ message, reason, moot }: Extract<ServerEvent, { type: 'held-changed' }>): void {
    const held = this.#held.get(message)
    if (!held) return
    this.#held.set(message, { ...held, ...(reason && { reason }), ...(moot !== undefined && { moot }) })
  }

  release(message: string, outcome: ReleaseOutcome): number[] {
    this.#held.delete(message)
    if (!this.#isStrict || (outcome !== 'dropped' && outcome !== 'answered')) return []
    return this.push({ type: 'dropped', t: new Date().toISOString(), id: message, why: outcome })
  }

  /** The capture ended. Returns rows as `line` does. */
  releaseAll(): number[] {
    this.#isOver = true
    this.#held.clear()
    return this.found.finish()
  }

  get heldCount(): number {
    return this.#held.size
  }

  /** Number of held messages to the client. */
  get heldAnswers(): number {
    return [...this.#held.values()].filter(({ direction }) => direction === 'server_to_client').length
  }

  /** The held message of a row, not redacted. */
  heldOf(row: number | undefined): HeldEvent | undefined {
    if (row === undefined || this.#held.size === 0) return undefined
    const id = this.idOf(row)
    return id === undefined ? undefined : this.#held.get(id)
  }

  /** The row of the message held longest, if it is on the tape already. */
  get firstHeld(): number | undefined {
    for (const id of this.#held.keys()) {
      const row = this.#heldRows.get(id)
      if (row !== undefined) return row
    }
    return undefined
  }

  idOf(row: number): string | undefined {
    return this.#partOf(row)?.id
  }

  /** Exact text as on the tape or, while held, not redacted; undefined if none or forgotten. */
  textOf(row: number): string | undefined {
    const held = this.heldOf(row)
    if (held) return held.text
    const slot = this.#records.get(row)
    const part = partOf(slot)
    if (!slot || !part || slot.gone) return undefined
    return isFrameRecord(slot.record) ? slot.record.raw.slice(part.start, part.end) : undefined
  }

  /** The payload is no longer available. */
  isForgotten(row: number): boolean {
    return this.#records.get(row)?.gone === true
  }

  /** Releases its resources. Can be called twice. */
  close(): void {
    this.#records.close()
  }

  row(at: number): LogRow | undefined {
    const slot = this.#records.get(at)
    if (!slot) return undefined
    const { entries } = this.#fold
    const kind = entries.kind(at)
    const peer = entries.peer(at)
    const isAnswer = kind === 'result' || kind === 'error'
    const answer = isAnswer ? at : peer
    return {
      row: at,
      kind,
      direction: entries.direction(at),
      record: slot.record,
      part: partOf(slot),
      seq: entries.seq(at),
      sizeBytes: entries.size(at),
      state: this.#stateOf(at),
      failed: answer >= 0 && hasFailed(entries, answer),
      unanswered: isUnanswered(entries, at),
      latencyUs: answer >= 0 && peer >= 0 ? entries.latencyUs(answer) : undefined,
      waitedUs: answer >= 0 ? entries.waitedUs(answer) : 0,
      peer,
      notes: this.#notes.of(at),
      findings: this.found.at(at),
      request: isAnswer ? this.#requestOf(peer < 0 ? this.#awaitedRow(at) : peer) : undefined,
    }
  }

  /** The row as filters see it. */
  subject(row: number): FilterSubject {
    const slot = this.#records.get(row)!
    const part = partOf(slot)
    const { entries } = this.#fold
    const kind = entries.kind(row)
    const peer = entries.peer(row)
    const isAnswer = kind === 'result' || kind === 'error'
    const request = isAnswer ? this.#requestOf(peer < 0 ? this.#awaitedRow(row) : peer) : undefined
    return rowSubject({
      entries,
      row,
      record: slot.record,
      ...(part && { part }),
      ...(request && { request }),
      transport: this.#fold.sessions.at(-1)?.transport ?? this.#transport,
      findings: this.found.at(row),
    })
  }

  #noteOpen(row: number, peer: number): void {
    const id = this.idOf(row)
    if (id !== undefined && this.#fold.entries.kind(row) === 'request') this.#open.set(detach(id), row)
    const answered = peer < 0 ? undefined : this.idOf(peer)
    if (answered !== undefined) this.#open.delete(answered)
    if (this.#open.size > mostOpen) this.#open.delete(this.#open.keys().next().value!)
  }

  /** The request of a held response. It counts as answered only when the response is forwarded. */
  #awaitedRow(row: number): number {
    return this.#open.get(this.#partOf(row)?.correlatedId ?? '') ?? -1
  }

  #stateOf(row: number): RowState {
    const { entries } = this.#fold
    if (entries.has(row, 'dropped')) return 'dropped'
    // During a live capture, a message is held only while a decision about it is possible.
    const isDecided = this.#isLive && !this.#isOver && this.heldOf(row) === undefined
    if (entries.has(row, 'waiting')) return isDecided ? 'passed' : 'waiting'
    if (entries.has(row, 'modified')) return 'modified'
    if (entries.has(row, 'injected')) return 'injected'
    return entries.has(row, 'undelivered') ? 'undelivered' : 'passed'
  }

  #partOf(row: number): Part | undefined {
    return partOf(this.#records.get(row))
  }

  #requestOf(row: number): LogRow['request'] {
    const { method, subject } = this.#partOf(row)?.envelope ?? {}
    return method === undefined ? undefined : { method, ...(subject !== undefined && { subject }) }
  }
}

function partOf(slot: Slot | undefined): Part | undefined {
  return slot && isFrameRecord(slot.record) ? slot.record.parts[slot.part] : undefined
}
