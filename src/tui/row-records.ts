import { decodeLine, encodeRecord } from '../formats/index.js'
import { createIntColumn, createNumberColumn, setRow, type TapeRecord } from '../model/index.js'
import { createTextStore, type TextStore } from '../tape/index.js'
import { lengthOf, outlineOf } from './record-outline.js'

/** Characters of the newest records, kept in memory: about 20 to 40 thousand rows. */
const charactersKept = 24 * 1024 * 1024
/** Characters of older records that were read back. */
const charactersCached = 4 * 1024 * 1024
const noPlace = -1

/** The record of a row, and the index of the row's message in it. */
export interface Slot {
  readonly record: TapeRecord
  readonly part: number
  /** The payload is no longer available. */
  readonly gone?: true
}

/**
 * The records of all rows. The newest are in memory, older ones in a private temporary file as lines of a
 * tape: the tape itself may be rotated away, or be a merge of several recordings. If that file cannot be
 * written, or a record must not be on disk, the record's outline stays in memory.
 */
export class RowRecords {
  /** From row `#base` on; rows before `#head` have been removed. */
  #recent: (Slot | undefined)[] = []
  #base = 0
  #head = 0
  #characters = 0
  /** For older rows: the line number in the store, and the part. */
  readonly #places = createNumberColumn(noPlace)
  readonly #parts = createIntColumn(0)
  #store: TextStore | undefined
  /** The store accepts no more records; existing ones can be read. */
  #isFull = false
  readonly #outlines = new Map<number, Slot>()
  readonly #offDisk = new WeakSet<TapeRecord>()
  /** The messages of a batch share a record. */
  #left: { readonly record: TapeRecord; readonly place: number; outline?: TapeRecord } | undefined
  readonly #cache = new Map<number, TapeRecord>()
  #cachedCharacters = 0

  get length(): number {
    return this.#base + this.#recent.length
  }

  /** Keeps the record off the disk: it contains secrets. */
  keepOffDisk(record: TapeRecord): void {
    this.#offDisk.add(record)
  }

  get(row: number): Slot | undefined {
    const at = row - this.#base
    if (at >= this.#head) return this.#recent[at]
    const place = this.#places.get(row)
    if (place === noPlace) return this.#outlines.get(row)
    return { record: this.#read(place), part: this.#parts.get(row) }
  }

  /** Adds a row, or replaces its record. */
  set(row: number, slot: Slot): void {
    const at = row - this.#base
    if (at < this.#head) return this.#putAway(row, slot)
    const before = this.#recent[at]
    if (before?.part === 0) this.#characters -= lengthOf(before.record)
    this.#recent[at] = slot
    if (slot.part === 0) this.#characters += lengthOf(slot.record)
    this.#forgetOld()
  }

  close(): void {
    this.#store?.close()
  }

  #forgetOld(): void {
    while (this.#characters > charactersKept && this.#head < this.#recent.length - 1) {
      const slot = this.#recent[this.#head]!
      if (slot.part === 0) this.#characters -= lengthOf(slot.record)
      this.#putAway(this.#base + this.#head, slot)
      this.#recent[this.#head] = undefined
      this.#head += 1
    }
    // Done rarely, since it copies all other rows.
    if (this.#head < 1024 || this.#head < this.#recent.length / 2) return
    this.#recent = this.#recent.slice(this.#head)
    this.#base += this.#head
    this.#head = 0
  }

  #putAway(row: number, { record, part, gone }: Slot): void {
    if (this.#left?.record !== record)
      this.#left = { record, place: gone === true ? noPlace : this.#write(record) }
    const { place } = this.#left
    setRow(this.#places, row, place)
    setRow(this.#parts, row, part)
    if (place !== noPlace) this.#outlines.delete(row)
    else {
      this.#left.outline ??= outlineOf(record)
      this.#outlines.set(row, { record: this.#left.outline, part, gone: true })
    }
  }

  #write(record: TapeRecord): number {
    if (this.#isFull || this.#offDisk.has(record)) return noPlace
    try {
      this.#store ??= createTextStore()
      return this.#store.add(encodeRecord(record).trimEnd())
    } catch {
      this.#isFull = true
      return noPlace
    }
  }

  #read(place: number): TapeRecord {
    const known = this.#cache.get(place)
    if (known) return known
    const text = this.#store!.read(place)
    const decoded = decodeLine(text, { checked: true })
    const record: TapeRecord = 'record' in decoded ? decoded.record : { type: 'unknown', name: '', text }
    if (this.#cachedCharacters > charactersCached) {
      this.#cache.clear()
      this.#cachedCharacters = 0
    }
    this.#cache.set(place, record)
    this.#cachedCharacters += lengthOf(record)
    return record
  }
}
