import { grownColumns } from './columns.js'
import type { Direction, MessageKind } from './envelope.js'
import { recordTypes } from './record-types.js'
import type { LoneRecord } from './record.js'

/** The kind of a row: that of its message, or the type of a record without messages. */
export type EntryKind = MessageKind | LoneKind

export type LoneKind = LoneRecord['type']

const messageKinds: Readonly<Record<MessageKind, true>> = {
  request: true,
  notification: true,
  result: true,
  error: true,
  invalid: true,
}

/** Kinds of rows without messages. */
export const loneKinds: readonly LoneKind[] = (
  Object.keys(recordTypes) as (keyof typeof recordTypes)[]
).filter(isLoneKind)

/** Every entry kind; columns hold positions in this list. */
export const entryKinds: readonly EntryKind[] = [
  ...(Object.keys(messageKinds) as MessageKind[]),
  ...loneKinds,
]

export function isMessageKind(kind: EntryKind): kind is MessageKind {
  return (messageKinds as { readonly [kind: string]: true | undefined })[kind] === true
}

function isLoneKind(type: keyof typeof recordTypes): type is LoneKind {
  return recordTypes[type].rows === 'itself'
}

/** Facts about a row, one bit each. */
export const entryFlag = {
  fromServer: 1,
  answered: 2,
  late: 4,
  duplicate: 8,
  toolError: 16,
  cancelled: 32,
  undelivered: 64,
  batch: 128,
  /** Stays open by design: `subscriptions/listen` is answered only when the subscription ends. */
  stream: 256,
  /** A response without a request in the recording. */
  orphan: 512,
  /** Held, and not forwarded so far. */
  waiting: 1024,
  /** Was held for a time. */
  held: 2048,
  /** Was held and never forwarded. */
  dropped: 4096,
  /** Changed by a person or a rule. */
  modified: 8192,
  /** Made by a person or a rule. */
  injected: 16_384,
  /** Its time is unknown; its `us` is 0. */
  untimed: 32_768,
  /** A response that created a task without an end. */
  taskOpen: 65_536,
  /** A response that created a task, which failed. */
  taskFailed: 131_072,
  /** A response that created a task, which was cancelled. */
  taskCancelled: 262_144,
  /** A response with the error of a failed task: the failure counts at the call that created the task. */
  repeated: 524_288,
} as const
export type EntryFlag = keyof typeof entryFlag

/** Longer than the table. Values are those of the methods with these names. */
export interface EntryColumns {
  readonly kindNumber: Uint8Array
  readonly flags: Uint32Array
  readonly us: Float64Array
  readonly seq: Float64Array
  readonly size: Float64Array
  readonly peer: Int32Array
}

function columnsOf(capacity: number): EntryColumns {
  return {
    kindNumber: new Uint8Array(capacity),
    flags: new Uint32Array(capacity),
    us: new Float64Array(capacity),
    seq: new Float64Array(capacity),
    size: new Float64Array(capacity),
    // Rows that are never added take no memory.
    peer: new Int32Array(capacity),
  }
}

/**
 * The rows of a recording without their payloads, in typed columns: 33 to 50 bytes per row. A million
 * messages can be listed, counted and matched while their text stays on disk.
 */
export class EntryTable {
  readonly #changed: (row: number) => void
  #capacity: number
  #length = 0
  #columns: EntryColumns
  /** A map: few rows are ever held. */
  readonly #heldMs = new Map<number, number>()
  /** A map: few servers send requests to their client. */
  readonly #waited = new Map<number, number>()
  /** A map: few calls run as tasks. */
  readonly #tasks = new Map<number, { readonly us: number; readonly end: number }>()
  /** A map: few recordings have many links. */
  readonly #links = new Map<number, number>()

  /**
   * @param changed called for rows that change after they were added
   * @param rows that are expected
   */
  constructor(changed: (row: number) => void = () => undefined, rows = 0) {
    this.#changed = changed
    this.#capacity = Math.max(rows, 256)
    this.#columns = columnsOf(this.#capacity)
  }

  get length(): number {
    return this.#length
  }

  /** All rows, for loops over millions of them; valid until the next row is added. */
  columns(): EntryColumns {
    return this.#columns
  }

  /** Returns the new row's number. `us` is monotonic microseconds since the session began; NaN when unknown. */
  add(row: { kind: EntryKind; us: number; seq: number; sizeBytes: number; flags: number }): number {
    const at = this.#length
    if (at === this.#capacity) this.#grow()
    const { kindNumber, flags, us, seq, size, peer } = this.#columns
    kindNumber[at] = entryKinds.indexOf(row.kind)
    const isUntimed = Number.isNaN(row.us)
    flags[at] = isUntimed ? row.flags | entryFlag.untimed : row.flags
    us[at] = isUntimed ? 0 : row.us
    seq[at] = row.seq
    size[at] = row.sizeBytes
    peer[at] = -1
    this.#length += 1
    return at
  }

  #grow(): void {
    // Grows by half instead of doubling: at millions of rows, spare capacity dominates memory.
    this.#capacity += this.#capacity >> 1
    this.#columns = grownColumns(this.#columns, columnsOf(this.#capacity))
  }

  kind(row: number): EntryKind {
    return entryKinds[this.#columns.kindNumber[row]!]!
  }

  /** Position of its kind in `entryKinds`. */
  kindNumber(row: number): number {
    return this.#columns.kindNumber[row]!
  }

  direction(row: number): Direction {
    return this.has(row, 'fromServer') ? 'server_to_client' : 'client_to_server'
  }

  us(row: number): number {
    return this.#columns.us[row]!
  }

  /** Message number given at recording; -1 for rows without messages. */
  seq(row: number): number {
    return this.#columns.seq[row]!
  }

  /** Bytes of the exact text. */
  size(row: number): number {
    return this.#columns.size[row]!
  }

  has(row: number, flag: EntryFlag): boolean {
    return (this.#columns.flags[row]! & entryFlag[flag]) !== 0
  }

  /** All flags, as the bits of `entryFlag`. */
  flags(row: number): number {
    return this.#columns.flags[row]!
  }

  mark(row: number, flag: EntryFlag): void {
    this.#columns.flags[row]! |= entryFlag[flag]
    this.#changed(row)
  }

  unmark(row: number, flag: EntryFlag): void {
    this.#columns.flags[row]! &= ~entryFlag[flag]
    this.#changed(row)
  }

  /** A held message is forwarded, possibly edited. */
  release(row: number, as: { kind: EntryKind; sizeBytes: number; heldMs: number }): void {
    this.#columns.kindNumber[row] = entryKinds.indexOf(as.kind)
    this.#columns.size[row] = as.sizeBytes
    if (as.heldMs > 0) this.#heldMs.set(row, as.heldMs)
    this.unmark(row, 'waiting')
  }

  /** Microseconds for which the row was held. */
  heldUs(row: number): number {
    return (this.#heldMs.get(row) ?? 0) * 1000
  }

  /**
   * Time in which the other side produced this response, or ended the task that it created, without the time its request
   * was held and without `waitedUs`. Undefined for a response that a person or a rule gave in its place, without times,
   * and for a task without an end.
   */
  latencyUs(answer: number): number | undefined {
    const { flags, us } = this.#columns
    const request = this.peer(answer)
    if (this.has(answer, 'injected')) return undefined
    if (((flags[answer]! | flags[request]!) & entryFlag.untimed) !== 0) return undefined
    const passedUs = us[answer]! - us[request]!
    // Most recordings have none of these.
    if (this.#heldMs.size === 0 && this.#tasks.size === 0 && this.#waited.size === 0)
      return Math.max(0, passedUs)
    const tookUs = passedUs - this.heldUs(request) + this.taskUs(answer)
    return tookUs === Infinity ? undefined : Math.max(0, tookUs - this.waitedUs(answer))
  }

  /** Microseconds between request and response for which the server waited for its client. */
  waitedUs(answer: number): number {
    return this.#waited.get(answer) ?? 0
  }

  setWaited(answer: number, us: number): void {
    this.#waited.set(answer, us)
    this.#changed(answer)
  }

  /**
   * Microseconds from a response that created a task to the end of the task; Infinity without an end. 0 for other
   * responses.
   */
  taskUs(answer: number): number {
    return this.#tasks.get(answer)?.us ?? 0
  }

  /** The row that reported the end of the task; -1 for other responses, and without an end. */
  taskEnd(answer: number): number {
    return this.#tasks.get(answer)?.end ?? -1
  }

  /** @param end -1 without an end */
  setTask(answer: number, us: number, end: number): void {
    this.#tasks.set(answer, { us, end })
    this.#changed(answer)
  }

  /** The request of a response, the first response of a request; -1 when there is none. */
  peer(row: number): number {
    return this.#columns.peer[row]!
  }

  pair(request: number, answer: number): void {
    const { peer } = this.#columns
    peer[answer] = request
    if (peer[request] === -1) peer[request] = answer
    this.#changed(request)
  }

  /**
   * The request that a message is linked to otherwise (progress, cancellation, a response that is held or was dropped,
   * …); -1 when there is none.
   */
  linked(row: number): number {
    return this.#links.get(row) ?? -1
  }

  link(row: number, request: number): void {
    this.#links.set(row, request)
  }
}
