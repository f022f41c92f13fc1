/** Bytes of a piece that wait for the next one, at least: longer than what gives a secret away beside it. */
const leastKept = 1_024
/** And at most, where there is no better place to cut. */
const mostKept = 16_384

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09

/**
 * Cuts the pieces of an overlong line anew, so that a secret and what tells that it is one stay together: between
 * two words, a good way before the end of what is there. The pieces make up the same line.
 */
export class LongLine {
  #kept: Uint8Array = new Uint8Array(0)

  /** @param bytes the next piece, borrowed @returns what can be looked at by itself; the rest is kept */
  piece(bytes: Uint8Array): Uint8Array {
    const joined = Buffer.concat([this.#kept, bytes])
    const cut = placeToCut(joined)
    this.#kept = joined.subarray(cut)
    return joined.subarray(0, cut)
  }

  /** @returns the last piece with what was kept for it */
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
  // Never inside of a character.
  let at = latest
  while (at > earliest && (bytes[at]! & 0xc0) === 0x80) at -= 1
  return at
}

/** True after a word that says nothing of the next one, as `token=` or `Bearer` would. */
function endsPlainWord(bytes: Uint8Array, end: number): boolean {
  const word = Buffer.from(bytes.subarray(Math.max(0, end - 32), end)).toString('latin1')
  return (
    /[A-Za-z0-9.)\]}]$/.test(word) &&
    !/(?:bearer|basic|digest|token|key|secret|pass\w*|pwd|auth\w*|is)$/i.test(word)
  )
}
