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

/**
 * The rows of a recording without their payloads, in typed columns: 33 to 50 bytes per row. A million
 * messages can be listed, counted and matched while their text stays on disk.
 */
export interface EntryTable {
  readonly length: number
  /** All rows, for loops over millions of them; valid until the next row is added. */
  columns(): EntryColumns
  /** Returns the new row's number. `us` is monotonic microseconds since the session began; NaN when unknown. */
  add(row: { kind: EntryKind; us: number; seq: number; sizeBytes: number; flags: number }): number
  kind(row: number): EntryKind
  /** Position of its kind in `entryKinds`. */
  kindNumber(row: number): number
  direction(row: number): Direction
  us(row: number): number
  /** Message number given at recording; -1 for rows without messages. */
  seq(row: number): number
  /** Bytes of the exact text. */
  size(row: number): number
  has(row: number, flag: EntryFlag): boolean
  /** All flags, as the bits of `entryFlag`. */
  flags(row: number): number
  mark(row: number, flag: EntryFlag): void
  unmark(row: number, flag: EntryFlag): void
  /** A held message is forwarded, possibly edited. */
  release(row: number, as: { kind: EntryKind; sizeBytes: number; heldMs: number }): void
  /** The request of a response, the first response of a request; -1 when there is none. */
  peer(row: number): number
  pair(request: number, answer: number): void
  /** Microseconds for which the row was held. */
  heldUs(row: number): number
  /**
   * Time in which the other side produced this response, or ended the task that it created, without the time its request
   * was held and without `waitedUs`. Undefined for a response that a person or a rule gave in its place, without times,
   * and for a task without an end.
   */
  latencyUs(answer: number): number | undefined
  /** Microseconds between request and response for which the server waited for its client. */
  waitedUs(answer: number): number
  setWaited(answer: number, us: number): void
  /**
   * Microseconds from a response that created a task to the end of the task; Infinity without an end. 0 for other
   * responses.
   */
  taskUs(answer: number): number
  /** The row that reported the end of the task; -1 for other responses, and without an end. */
  taskEnd(answer: number): number
  /** @param end -1 without an end */
  setTask(answer: number, us: number, end: number): void
  /**
   * The request that a message is linked to otherwise (progress, cancellation, a response that is held or was dropped,
   * …); -1 when there is none.
   */
  linked(row: number): number
  link(row: number, request: number): void
}

/** @param changed called for rows that change after they were added */
export function createEntryTable(changed: (row: number) => void = () => undefined): EntryTable {
  let capacity = 256
  let length = 0
  let kindColumn = new Uint8Array(capacity)
  let flagColumn = new Uint32Array(capacity)
  let usColumn = new Float64Array(capacity)
  let seqColumn = new Float64Array(capacity)
  let sizeColumn = new Float64Array(capacity)
  let peerColumn = new Int32Array(capacity).fill(-1)
  /** A map: few rows are ever held. */
  const heldMs = new Map<number, number>()
  /** A map: few servers send requests to their client. */
  const waited = new Map<number, number>()
  /** A map: few calls run as tasks. */
  const tasks = new Map<number, { readonly us: number; readonly end: number }>()
  /** A map: few recordings have many links. */
  const links = new Map<number, number>()

  function grow(): void {
    // Grows by half instead of doubling: at millions of rows, spare capacity dominates memory.
    capacity += capacity >> 1
    kindColumn = extend(kindColumn, new Uint8Array(capacity))
    flagColumn = extend(flagColumn, new Uint32Array(capacity))
    usColumn = extend(usColumn, new Float64Array(capacity))
    seqColumn = extend(seqColumn, new Float64Array(capacity))
    sizeColumn = extend(sizeColumn, new Float64Array(capacity))
    peerColumn = extend(peerColumn, new Int32Array(capacity).fill(-1))
  }

  return {
    get length() {
      return length
    },
    columns: () => ({
      kindNumber: kindColumn,
      flags: flagColumn,
      us: usColumn,
      seq: seqColumn,
      size: sizeColumn,
      peer: peerColumn,
    }),
    add(row) {
      if (length === capacity) grow()
      kindColumn[length] = entryKinds.indexOf(row.kind)
      flagColumn[length] = row.flags
      usColumn[length] = row.us
      if (Number.isNaN(row.us)) {
        usColumn[length] = 0
        flagColumn[length]! |= entryFlag.untimed
      }
      seqColumn[length] = row.seq
      sizeColumn[length] = row.sizeBytes
      length += 1
      return length - 1
    },
    kind: (row) => entryKinds[kindColumn[row]!]!,
    kindNumber: (row) => kindColumn[row]!,
    direction: (row) =>
      (flagColumn[row]! & entryFlag.fromServer) === 0 ? 'client_to_server' : 'server_to_client',
    us: (row) => usColumn[row]!,
    seq: (row) => seqColumn[row]!,
    size: (row) => sizeColumn[row]!,
    has: (row, flag) => (flagColumn[row]! & entryFlag[flag]) !== 0,
    flags: (row) => flagColumn[row]!,
    mark(row, flag) {
      flagColumn[row]! |= entryFlag[flag]
      changed(row)
    },
    unmark(row, flag) {
      flagColumn[row]! &= ~entryFlag[flag]
      changed(row)
    },
    release(row, as) {
      kindColumn[row] = entryKinds.indexOf(as.kind)
      sizeColumn[row] = as.sizeBytes
      flagColumn[row]! &= ~entryFlag.waiting
      if (as.heldMs > 0) heldMs.set(row, as.heldMs)
      changed(row)
    },
    heldUs: (row) => (heldMs.get(row) ?? 0) * 1000,
    latencyUs(row) {
      const request = peerColumn[row]!
      if ((flagColumn[row]! & entryFlag.injected) !== 0) return undefined
      if (((flagColumn[row]! | flagColumn[request]!) & entryFlag.untimed) !== 0) return undefined
      const us = usColumn[row]! - usColumn[request]!
      // Most recordings have none of these.
      if (heldMs.size === 0 && tasks.size === 0 && waited.size === 0) return Math.max(0, us)
      const tookUs = us - (heldMs.get(request) ?? 0) * 1000 + (tasks.get(row)?.us ?? 0)
      return tookUs === Infinity ? undefined : Math.max(0, tookUs - (waited.get(row) ?? 0))
    },
    waitedUs: (row) => waited.get(row) ?? 0,
    setWaited(row, us) {
      waited.set(row, us)
      changed(row)
    },
    taskUs: (row) => tasks.get(row)?.us ?? 0,
    taskEnd: (row) => tasks.get(row)?.end ?? -1,
    setTask(row, us, end) {
      tasks.set(row, { us, end })
      changed(row)
    },
    peer: (row) => peerColumn[row]!,
    pair(request, answer) {
      peerColumn[answer] = request
      if (peerColumn[request] === -1) peerColumn[request] = answer
      changed(request)
    },
    linked: (row) => links.get(row) ?? -1,
    link: (row, request) => void links.set(row, request),
  }
}

function extend<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from)
  return to
}
