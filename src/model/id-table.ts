/** Finds the row of a message by its id, in about 20 bytes a message. */
export interface IdTable {
  set(id: string, row: number): void
  /** -1 when the id is unknown. */
  get(id: string): number
}

/**
 * Open addressing over two 32-bit hashes of the id. Holding the ids themselves would cost more than all
 * other columns of a recording together. Two random UUIDs collide once in 10^19 pairs.
 */
export function createIdTable(): IdTable {
  let capacity = 1024
  let first = new Int32Array(capacity)
  let second = new Int32Array(capacity)
  /** Row + 1; 0 is an empty slot. */
  let rows = new Int32Array(capacity)
  let size = 0

  function slotOf(hashA: number, hashB: number): number {
    let slot = (hashA ^ (hashB << 7)) & (capacity - 1)
    while (rows[slot] !== 0 && (first[slot] !== hashA || second[slot] !== hashB))
      slot = (slot + 1) & (capacity - 1)
    return slot
  }

  function grow(): void {
    const old = { first, second, rows }
    capacity *= 2
    first = new Int32Array(capacity)
    second = new Int32Array(capacity)
    rows = new Int32Array(capacity)
    for (let i = 0; i < old.rows.length; i += 1) {
      if (old.rows[i] === 0) continue
      const slot = slotOf(old.first[i]!, old.second[i]!)
      first[slot] = old.first[i]!
      second[slot] = old.second[i]!
      rows[slot] = old.rows[i]!
    }
  }

  return {
    set(id, row) {
      if (size * 3 > capacity * 2) grow()
      hash(id)
      const slot = slotOf(hashA, hashB)
      if (rows[slot] === 0) size += 1
      first[slot] = hashA
      second[slot] = hashB
      rows[slot] = row + 1
    },
    get(id) {
      hash(id)
      return rows[slotOf(hashA, hashB)]! - 1
    },
  }
}

/** What `hash` found: two numbers, and no object a message. */
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

function mixed(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
