/** Interns ASCII texts that repeat in bytes: names of methods, tools, conversations. */
export interface ByteTexts {
  /** ASCII; '' if `start` is negative. */
  at(bytes: Uint8Array, start: number, end: number): string
}

/** Size of the table, one text per slot; a power of 2. */
const slots = 2048
/** Longer ones are not cached. */
const longest = 200

export function createByteTexts(): ByteTexts {
  const texts: string[] = Array.from({ length: slots }, () => '')
  return {
    at(bytes, start, end) {
      if (start < 0 || start === end) return ''
      if (end - start > longest) return made(bytes, start, end)
      let hash = 0x811c9dc5
      for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
      const slot = (hash ^ (hash >>> 15)) & (slots - 1)
      const known = texts[slot]!
      if (isAt(known, bytes, start, end)) return known
      return (texts[slot] = made(bytes, start, end))
    },
  }
}

function isAt(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) !== bytes[start + i]) return false
  return true
}

const ascii = new TextDecoder('latin1')

function made(bytes: Uint8Array, start: number, end: number): string {
  return ascii.decode(bytes.subarray(start, end))
}
