/** Numbers from 0 up to 1, the same for the same seed and name on every machine. */
export function createRandom(seed: number, name: string): () => number {
  let state = hash(`${seed} ${name}`)
  // Mulberry32: 32 bits of state suffice to decide which messages get lost.
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/** FNV-1a over UTF-16 code units. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return sum >>> 0
}
