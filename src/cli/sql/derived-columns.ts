import { entryFlag, entryKinds, grownColumns, type EntryTable } from '../../model/index.js'
import { noBoolean, noInt, rowsInGroup, type ColumnValues } from './column-values.js'
import type { RowStore } from './row-store.js'

/** A recording in a store. */
export interface StoredRows {
  readonly entries: EntryTable
  readonly store: RowStore
  /** Its first row in the store. */
  readonly base: number
}

/** Columns that are computed when a recording was read, since a later row may change them. Memory for one group of rows. */
export class DerivedColumns {
  #ints = intColumns(0)
  #doubles = doubleColumns(0)
  #booleans = booleanColumns(0)
  #capacity = 0

  /**
   * Computes rows of a recording.
   *
   * @param from first row in the recording
   * @param at first row here
   */
  compute({ entries, store, base }: StoredRows, from: number, count: number, at: number): void {
    this.#grow(at + count)
    const { seq, answers, peerRow, row, kind, direction, method, subject, tool } = this.#ints
    const { timeMs, offsetMs, latencyMs, waitedMs, heldMs, sizeBytes } = this.#doubles
    const { isError, modified, injected, dropped, cancelled } = this.#booleans
    const { kindNumber, flags: allFlags, us, seq: seqs, size, peer: peers } = entries.columns()
    const toolCall = store.method.codeOf('tools/call')
    for (let i = at, own = from; i < at + count; i += 1, own += 1) {
      const number = kindNumber[own]!
      const flags = allFlags[own]!
      const peer = peers[own]!
      // For a response row: its request, which holds the method.
      const isResponse = number === resultKind || number === errorKind
      const request = isResponse ? peer : -1
      const named = base + (request < 0 ? own : request)
      const isTimed = (flags & entryFlag.untimed) === 0
      const methodCode = store.method.code(named)
      const subjectCode = store.subject.code(named)
      kind[i] = number
      direction[i] = undirected[number] ? -1 : flags & entryFlag.fromServer
      seq[i] = seqOf(seqs[own]!)
      row[i] = own
      peerRow[i] = peer >= 0 ? peer : noInt
      method[i] = methodCode
      subject[i] = subjectCode
      tool[i] = methodCode === toolCall ? subjectCode : -1
      sizeBytes[i] = size[own]!
      timeMs[i] = isTimed ? store.timeMs.at(base + own) : Number.NaN
      offsetMs[i] = isTimed ? us[own]! / 1_000 : Number.NaN
      const latencyUs = request < 0 ? undefined : entries.latencyUs(own)
      answers[i] = request < 0 ? noInt : seqOf(seqs[request]!)
      latencyMs[i] = latencyUs === undefined ? Number.NaN : latencyUs / 1_000
      waitedMs[i] = latencyUs === undefined ? Number.NaN : entries.waitedUs(own) / 1_000
      heldMs[i] = (flags & entryFlag.held) === 0 ? Number.NaN : entries.heldUs(own) / 1_000
      isError[i] = isResponse ? (isFailure(number, flags) ? 1 : 0) : noBoolean
      modified[i] = (flags & entryFlag.modified) === 0 ? 0 : 1
      injected[i] = (flags & entryFlag.injected) === 0 ? 0 : 1
      dropped[i] = (flags & entryFlag.dropped) === 0 ? 0 : 1
      const answerFlags = !isResponse && peer >= 0 ? allFlags[peer]! : 0
      cancelled[i] = ((flags & entryFlag.cancelled) | (answerFlags & entryFlag.taskCancelled)) === 0 ? 0 : 1
    }
  }

  /**
   * @param from first row here
   * @param store of the recordings, for their names
   */
  values(from: number, to: number, store: RowStore) {
    const ints = (at: Int32Array) => ({ kind: 'ints', at: at.subarray(from, to) }) as const
    const doubles = (at: Float64Array) => ({ kind: 'doubles', at: at.subarray(from, to) }) as const
    const booleans = (at: Uint8Array) => ({ kind: 'booleans', at: at.subarray(from, to) }) as const
    const names = (at: Int32Array, texts: readonly string[]) =>
      ({ kind: 'names', at: at.subarray(from, to), texts }) as const
    const { seq, answers, peerRow, row, kind, direction, method, subject, tool } = this.#ints
    const { timeMs, offsetMs, latencyMs, waitedMs, heldMs, sizeBytes } = this.#doubles
    const { isError, modified, injected, dropped, cancelled } = this.#booleans
    return {
      seq: ints(seq),
      time_ms: doubles(timeMs),
      offset_ms: doubles(offsetMs),
      direction: names(direction, directions),
      kind: names(kind, entryKinds),
      method: names(method, store.method.texts),
      subject: names(subject, store.subject.texts),
      tool: names(tool, store.subject.texts),
      answers: ints(answers),
      latency_ms: doubles(latencyMs),
      waited_ms: doubles(waitedMs),
      held_ms: doubles(heldMs),
      is_error: booleans(isError),
      modified: booleans(modified),
      injected: booleans(injected),
      dropped: booleans(dropped),
      cancelled: booleans(cancelled),
      size_bytes: doubles(sizeBytes),
      row: ints(row),
      peer_row: ints(peerRow),
    } satisfies Record<string, ColumnValues>
  }

  #grow(needed: number): void {
    if (needed <= this.#capacity) return
    this.#capacity = Math.min(rowsInGroup, Math.max(needed, this.#capacity * 2))
    this.#ints = grownColumns(this.#ints, intColumns(this.#capacity))
    this.#doubles = grownColumns(this.#doubles, doubleColumns(this.#capacity))
    this.#booleans = grownColumns(this.#booleans, booleanColumns(this.#capacity))
  }
}

function intColumns(length: number) {
  const ints = (): Int32Array => new Int32Array(length)
  return {
    seq: ints(),
    answers: ints(),
    peerRow: ints(),
    row: ints(),
    kind: ints(),
    direction: ints(),
    method: ints(),
    subject: ints(),
    tool: ints(),
  }
}

function doubleColumns(length: number) {
  const doubles = (): Float64Array => new Float64Array(length)
  return {
    timeMs: doubles(),
    offsetMs: doubles(),
    latencyMs: doubles(),
    waitedMs: doubles(),
    heldMs: doubles(),
    sizeBytes: doubles(),
  }
}

function booleanColumns(length: number) {
  const booleans = (): Uint8Array => new Uint8Array(length)
  return {
    isError: booleans(),
    modified: booleans(),
    injected: booleans(),
    dropped: booleans(),
    cancelled: booleans(),
  }
}

const directions = ['client_to_server', 'server_to_client'] as const
const [resultKind, errorKind] = [entryKinds.indexOf('result'), entryKinds.indexOf('error')]

/** By number of the kind. */
const undirected = entryKinds.map((kind) => kind === 'gap' || kind === 'http')

/** As `isErrorAnswer`, for held and dropped responses too. */
export function isFailure(kind: number, flags: number): boolean {
  if (kind !== resultKind && kind !== errorKind) return false
  const isWrong = kind === errorKind || (flags & (entryFlag.toolError | entryFlag.taskFailed)) !== 0
  return isWrong && (flags & entryFlag.repeated) === 0
}

/** `noInt` for rows without a message, and for numbers that no recorder assigns. */
export function seqOf(seq: number): number {
  return seq < 0 || seq > 0x7fff_ffff ? noInt : seq
}
