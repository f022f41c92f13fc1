/** First hash, second hash, row + 1: adjacent, so that a lookup costs one cache line. */
const stride = 3
/** Most lookups are for recent ids: this many of the latest, one per slot, are found at once. */
const recentSlots = 4096
/** Entries searched, newest first, before all are moved to the table. */
const lookedBack = 4096

/**
 * Finds the row of a message by its id, in 12 to 24 bytes per message: open addressing over two 32-bit hashes of the id.
 * Storing the ids would cost more than all other columns of a recording together. Two random UUIDs collide once in 10^19
 * pairs. Ids are moved to the table on the first lookup of one that is not recent; until then they wait in a list, which
 * is a tenth of the work.
 */
export class IdTable {
  #capacity = 1024
  /** Row 0 marks an empty slot. */
  #slots = new Int32Array(this.#capacity * stride)
  #size = 0
  readonly #recent = new Int32Array(recentSlots * stride)
  /** Entries not in the table yet, in order. */
  #waiting = new Int32Array(256 * stride)
  #waitingEnd = 0

  set(id: string, row: number): void {
    hash(id)
    this.#set(hashA, hashB, row)
  }

  /** -1 when the id is unknown. */
  get(id: string): number {
    hash(id)
    return this.#get(hashA, hashB)
  }

  /** As `set`, for an id stored in `bytes` as ASCII. */
  setBytes(bytes: Uint8Array, start: number, end: number, row: number): void {
    hashBytes(bytes, start, end)
    this.#set(hashA, hashB, row)
  }

  getBytes(bytes: Uint8Array, start: number, end: number): number {
    hashBytes(bytes, start, end)
    return this.#get(hashA, hashB)
  }

  /** The slot of an id in the table, or the free slot for it. */
  #find(a: number, b: number): number {
    const slots = this.#slots
    const mask = this.#capacity - 1
    let slot = (a ^ (b << 7)) & mask
    for (;;) {
      const at = slot * stride
      if (slots[at + 2] === 0 || (slots[at] === a && slots[at + 1] === b)) return at
      slot = (slot + 1) & mask
    }
  }

  #putAll(entries: Int32Array, end: number): void {
    for (let from = 0; from < end; from += stride) {
      if (entries[from + 2] === 0) continue
      const at = this.#find(entries[from]!, entries[from + 1]!)
      if (this.#slots[at + 2] === 0) this.#size += 1
      write(this.#slots, at, entries[from]!, entries[from + 1]!, entries[from + 2]!)
    }
  }

  /** Moves the waiting entries to the table. */
  #tabulate(): void {
    const most = this.#size + this.#waitingEnd / stride
    if (most * 3 > this.#capacity * 2) {
      const old = this.#slots
      while (most * 3 > this.#capacity * 2) this.#capacity *= 2
      this.#slots = new Int32Array(this.#capacity * stride)
      this.#size = 0
      this.#putAll(old, old.length)
    }
    this.#putAll(this.#waiting, this.#waitingEnd)
    this.#waiting = new Int32Array(256 * stride)
    this.#waitingEnd = 0
  }

  #set(a: number, b: number, row: number): void {
    write(this.#recent, (a & (recentSlots - 1)) * stride, a, b, row + 1)
    if (this.#waitingEnd === this.#waiting.length) {
      const more = new Int32Array(this.#waiting.length * 2)
      more.set(this.#waiting)
      this.#waiting = more
    }
    write(this.#waiting, this.#waitingEnd, a, b, row + 1)
    this.#waitingEnd += stride
  }

  #get(a: number, b: number): number {
    const recent = this.#recent
    const at = (a & (recentSlots - 1)) * stride
    if (recent[at + 2] !== 0 && recent[at] === a && recent[at + 1] === b) return recent[at + 2]! - 1
    const waiting = this.#waiting
    const last = Math.max(0, this.#waitingEnd - lookedBack * stride)
    for (let from = this.#waitingEnd - stride; from >= last; from -= stride)
      if (waiting[from] === a && waiting[from + 1] === b) return waiting[from + 2]! - 1
    if (this.#waitingEnd > 0) this.#tabulate()
    return this.#slots[this.#find(a, b) + 2]! - 1
  }
}

function write(to: Int32Array, at: number, a: number, b: number, row: number): void {
  to[at] = a
  to[at + 1] = b
  to[at + 2] = row
}

/** The result of `hash`: two numbers, to avoid one object per message. */
let hashA = 0
let hashB = 0

/** FNV-1a with a final mix (murmur3's), with two seeds. */
function hash(text: string): void {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x01000193)
  }
  hashA = mixed(a)
  hashB = mixed(b)
}

/** As `hash`, for the same text in ASCII. */
function hashBytes(bytes: Uint8Array, start: number, end: number): void {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let i = start; i < end; i += 1) {
    const code = bytes[i]!
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x01000193)
  }
  hashA = mixed(a)
  hashB = mixed(b)
}

function mixed(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
