/** Numbers for texts: columns can hold them, and the page gets each text only once. 0 is the empty text. */
export interface Words {
  numberOf(text: string): number
  /** As `numberOf`, for ASCII bytes; a start below 0 is the empty text. */
  numberOfBytes(bytes: Uint8Array, start: number, end: number): number
  wordOf(number: number): string
  /** Words added since the previous call. */
  takeNew(): string[]
}

/** Maximum characters of all words; beyond it, new words become empty (as with many distinct notes). */
const mostChars = 24 << 20
/** Maximum characters of one word. */
export const longestWord = 200

export function createWords(): Words {
  const numbers = new Map<string, number>([['', 0]])
  const words: string[] = ['']
  let chars = 0
  let sent = 0
  /** Numbers of words by a hash of their bytes; 0 is an empty slot. */
  let slots = new Uint32Array(1024)
  let used = 0

  function add(text: string): number {
    if (text === '') return 0
    const known = numbers.get(text)
    if (known !== undefined) return known
    const short = text.length > longestWord ? `${text.slice(0, longestWord)}…` : text
    const again = numbers.get(short)
    if (again !== undefined) return again
    if (chars > mostChars) return 0
    // A slice would keep its whole chunk in memory.
    const own = copyOf(short)
    chars += own.length
    numbers.set(own, words.length)
    words.push(own)
    return words.length - 1
  }

  function slotOf(bytes: Uint8Array, start: number, end: number): number {
    let slot = hashOf(bytes, start, end) & (slots.length - 1)
    while (slots[slot] !== 0 && !isAt(words[slots[slot]!]!, bytes, start, end))
      slot = (slot + 1) & (slots.length - 1)
    return slot
  }

  function grow(): void {
    const old = slots
    slots = new Uint32Array(old.length * 2)
    for (const number of old) {
      if (number === 0) continue
      const bytes = Uint8Array.from(words[number]!, (char) => char.charCodeAt(0))
      slots[slotOf(bytes, 0, bytes.length)] = number
    }
  }

  return {
    numberOf: add,
    numberOfBytes(bytes, start, end) {
      if (start < 0 || start === end) return 0
      // A longer text is cut, so its bytes do not identify its word.
      if (end - start > longestWord) return add(textAt(bytes, start, end))
      const slot = slotOf(bytes, start, end)
      if (slots[slot] !== 0) return slots[slot]!
      const number = add(textAt(bytes, start, end))
      if (number === 0) return 0
      slots[slot] = number
      used += 1
      if (used * 2 > slots.length) grow()
      return number
    },
    wordOf: (number) => words[number] ?? '',
    takeNew() {
      const fresh = words.slice(sent)
      sent = words.length
      return fresh
    },
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash ^ (hash >>> 15)
}

function isAt(word: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (word.length !== end - start) return false
  for (let i = 0; i < word.length; i += 1) if (word.charCodeAt(i) !== bytes[start + i]) return false
  return true
}

/** Text of ASCII bytes. */
export function textAt(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let i = start; i < end; i += 1) text += String.fromCharCode(bytes[i]!)
  return text
}

function copyOf(text: string): string {
  let copy = ''
  for (const char of text) copy += char
  return copy
}
