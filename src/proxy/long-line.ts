/** Fewest bytes kept back for the next piece: longer than the text that identifies a secret next to it. */
const leastKept = 1_024
/** Most bytes kept back when there is no better place to cut. */
const mostKept = 16_384

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09

/**
 * Re-cuts the pieces of an overlong line, so that a secret and the text that identifies it stay together. Cuts
 * between two words, well before the end of the available bytes. The pieces still make up the same line.
 */
export class LongLine {
  #kept: Uint8Array = new Uint8Array(0)

  /** @param bytes the next piece, borrowed @returns bytes that can be redacted separately; the rest is kept */
  piece(bytes: Uint8Array): Uint8Array {
    const joined = Buffer.concat([this.#kept, bytes])
    const cut = placeToCut(joined)
    this.#kept = joined.subarray(cut)
    return joined.subarray(0, cut)
  }

  /** @returns the last piece, preceded by the kept bytes */
  last(bytes: Uint8Array): Uint8Array {
    if (this.#kept.length === 0) return bytes
    const joined = Buffer.concat([this.#kept, bytes])
    this.#kept = new Uint8Array(0)
    return joined
  }
}

function placeToCut(bytes: Uint8Array): number {
  const latest = Math.max(0, bytes.length - leastKept)
  const earliest = Math.max(0, bytes.length - mostKept)
  for (let at = latest; at > earliest; at -= 1) {
    if (isBlank(bytes[at - 1]!) && endsPlainWord(bytes, at - 1)) return at
  }
  // Never inside a character.
  let at = latest
  while (at > earliest && (bytes[at]! & 0xc0) === 0x80) at -= 1
  return at
}

/** Whether the word does not announce a secret, as `token=` or `Bearer` would. */
function endsPlainWord(bytes: Uint8Array, end: number): boolean {
  const word = Buffer.from(bytes.subarray(Math.max(0, end - 32), end)).toString('latin1')
  return (
    /[A-Za-z0-9.)\]}]$/.test(word) &&
    !/(?:bearer|basic|digest|token|key|secret|pass\w*|pwd|auth\w*|is)$/i.test(word)
  )
}
