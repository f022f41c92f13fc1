import type { HeldEvent, ReleaseOutcome, ServerEvent } from '../control-schema/index.js'
import { rowSubject, type FilterSubject } from '../filter/index.js'
import type { Finding } from '../findings/index.js'
import { decodeLine } from '../formats/index.js'
import {
  isFrameRecord,
  createFold,
  detach,
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

/** Requests remembered that have no answer yet. */
const mostOpen = 10_000

/** What became of a row's message, as a screen marks it. */
export type RowState = 'passed' | 'waiting' | 'dropped' | 'modified' | 'injected' | 'undelivered'

/** One row as a screen shows it. */
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
  /** Not in `latencyUs`: for how long the server waited for its client; 0 for most. */
  readonly waitedUs: number
  /** The other half of the exchange; -1 for none. */
  readonly peer: number
  /** What people said about it. */
  readonly notes: readonly string[]
  /** What rules found in it. */
  readonly findings: readonly Finding[]
  /** What the request was about, of its answer. */
  readonly request: { readonly method: string; readonly subject?: string } | undefined
}

/** What a capture has said so far: rows of its tape, and what waits. A row of before takes some 100 bytes of memory. */
export class MessageLog {
  readonly #fold: Fold
  readonly #records = new RowRecords()
  readonly #held = new Map<string, HeldEvent>()
  /** Rows by message id, of those that are or were held. */
  readonly #heldRows = new Map<string, number>()
  /** Rows of requests that wait for their answer, by message id. */
  readonly #open = new Map<string, number>()
  readonly #transport: Transport
  #faults = 0
  readonly #notes = new RowNotes()
  /** What rules found in it. */
  readonly found: FoundLog
  /** Its lines do not say what was held. */
  #isStrict = false
  /** All that was on the tape at first is here. */
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

  /** Takes a line of the tape. Returns the rows that are new or changed. */
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

  /** A note about nothing in particular stands at the row before it. */
  #noted({ about, text }: NoteRecord): number[] {
    const found = about === undefined ? -1 : this.#fold.rowOf(about)
    const row = found >= 0 ? found : this.#records.length - 1
    if (row < 0) return []
    this.#notes.add(row, text)
    return [row]
  }

  /** A message waits. Returns rows as `line` does: the tape need not tell of it. */
  hold(event: HeldEvent): number[] {
    this.#held.set(event.message, event)
    return this.#isStrict && this.#isLive ? this.#showHeld() : []
  }

  /** All that was on the tape at first is here. */
  settled(): number[] {
    this.#isLive = true
    return this.#isStrict ? this.#showHeld() : []
  }

  /** Lines were left out: what waits and has no row may have been in them. */
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

  /** It is over. Returns rows as `line` does. */
  releaseAll(): number[] {
    this.#isOver = true
    this.#held.clear()
    return this.found.finish()
  }

  get heldCount(): number {
    return this.#held.size
  }

  /** Of those, how many go to the client. */
  get heldAnswers(): number {
    return [...this.#held.values()].filter(({ direction }) => direction === 'server_to_client').length
  }

  /** The held message of a row, as it is, secrets included. */
  heldOf(row: number): HeldEvent | undefined {
    if (this.#held.size === 0) return undefined
    const id = this.idOf(row)
    return id === undefined ? undefined : this.#held.get(id)
  }

  /** The row of the message that waits longest, where it is on the tape already. */
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

  /** Exact text as on the tape, or (held) as it is; undefined where it is kept no more, or is none. */
  textOf(row: number): string | undefined {
    const held = this.heldOf(row)
    if (held) return held.text
    const slot = this.#records.get(row)
    const part = partOf(slot)
    if (!slot || !part || slot.gone) return undefined
    return isFrameRecord(slot.record) ? slot.record.raw.slice(part.start, part.end) : undefined
  }

  /** Its payload cannot be had any more. */
  isForgotten(row: number): boolean {
    return this.#records.get(row)?.gone === true
  }

  /** Ends its use. Can be called twice. */
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
      failed: answer >= 0 && (entries.kind(answer) === 'error' || entries.has(answer, 'toolError')),
      unanswered: isUnanswered(entries, at),
      latencyUs: answer >= 0 && peer >= 0 ? entries.latencyUs(answer) : undefined,
      waitedUs: answer >= 0 ? entries.waitedUs(answer) : 0,
      peer,
      notes: this.#notes.of(at),
      findings: this.found.at(at),
      request: isAnswer ? this.#requestOf(peer < 0 ? this.#awaitedRow(at) : peer) : undefined,
    }
  }

  /** What a filter sees of a row. */
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

  /** The request that a held answer is for: it counts as answered only when the answer goes on. */
  #awaitedRow(row: number): number {
    return this.#open.get(this.#partOf(row)?.correlatedId ?? '') ?? -1
  }

  #stateOf(row: number): RowState {
    const { entries } = this.#fold
    if (entries.has(row, 'dropped')) return 'dropped'
    // While the capture runs, a message waits from when it can be decided about until it cannot.
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
