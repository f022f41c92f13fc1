/** Finds the row of a message by its id, in 12 to 24 bytes per message. */
export interface IdTable {
  set(id: string, row: number): void
  /** -1 when the id is unknown. */
  get(id: string): number
  /** As `set`, for an id stored in `bytes` as ASCII. */
  setBytes(bytes: Uint8Array, start: number, end: number, row: number): void
  getBytes(bytes: Uint8Array, start: number, end: number): number
}

/** First hash, second hash, row + 1: adjacent, so that a lookup costs one cache line. */
const stride = 3
/** Most lookups are for recent ids: this many of the latest, one per slot, are found at once. */
const recentSlots = 4096
/** Entries searched, newest first, before all are moved to the table. */
const lookedBack = 4096

/**
 * Open addressing over two 32-bit hashes of the id. Storing the ids would cost more than all other columns of a
 * recording together. Two random UUIDs collide once in 10^19 pairs. Ids are moved to the table on the first lookup of
 * one that is not recent; until then they wait in a list, which is a tenth of the work.
 */
export function createIdTable(): IdTable {
  let capacity = 1024
  /** Row 0 marks an empty slot. */
  let slots = new Int32Array(capacity * stride)
  let size = 0
  const recent = new Int32Array(recentSlots * stride)
  /** Entries not in the table yet, in order. */
  let waiting = new Int32Array(256 * stride)
  let waitingEnd = 0

  /** The slot of an id in the table, or the free slot for it. */
  function find(a: number, b: number): number {
    let slot = (a ^ (b << 7)) & (capacity - 1)
    for (;;) {
      const at = slot * stride
      if (slots[at + 2] === 0 || (slots[at] === a && slots[at + 1] === b)) return at
      slot = (slot + 1) & (capacity - 1)
    }
  }

  function putAll(entries: Int32Array, end: number): void {
    for (let from = 0; from < end; from += stride) {
      if (entries[from + 2] === 0) continue
      const at = find(entries[from]!, entries[from + 1]!)
      if (slots[at + 2] === 0) size += 1
      write(slots, at, entries[from]!, entries[from + 1]!, entries[from + 2]!)
    }
  }

  /** Moves the waiting entries to the table. */
  function tabulate(): void {
    const most = size + waitingEnd / stride
    if (most * 3 > capacity * 2) {
      const old = slots
      while (most * 3 > capacity * 2) capacity *= 2
      slots = new Int32Array(capacity * stride)
      size = 0
      putAll(old, old.length)
    }
    putAll(waiting, waitingEnd)
    waiting = new Int32Array(256 * stride)
    waitingEnd = 0
  }

  function set(a: number, b: number, row: number): void {
    write(recent, (a & (recentSlots - 1)) * stride, a, b, row + 1)
    if (waitingEnd === waiting.length) {
      const more = new Int32Array(waiting.length * 2)
      more.set(waiting)
      waiting = more
    }
    write(waiting, waitingEnd, a, b, row + 1)
    waitingEnd += stride
  }

  function get(a: number, b: number): number {
    const at = (a & (recentSlots - 1)) * stride
    if (recent[at + 2] !== 0 && recent[at] === a && recent[at + 1] === b) return recent[at + 2]! - 1
    const last = Math.max(0, waitingEnd - lookedBack * stride)
    for (let from = waitingEnd - stride; from >= last; from -= stride)
      if (waiting[from] === a && waiting[from + 1] === b) return waiting[from + 2]! - 1
    if (waitingEnd > 0) tabulate()
    return slots[find(a, b) + 2]! - 1
  }

  return {
    set(id, row) {
      hash(id)
      set(hashA, hashB, row)
    },
    get(id) {
      hash(id)
      return get(hashA, hashB)
    },
    setBytes(bytes, start, end, row) {
      hashBytes(bytes, start, end)
      set(hashA, hashB, row)
    },
    getBytes(bytes, start, end) {
      hashBytes(bytes, start, end)
      return get(hashA, hashB)
    },
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
