/** Kinds of ASCII characters, by their codes. */

export function isWord(code: number | undefined): boolean {
  if (code === undefined) return false
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
}

export function isBase64(code: number | undefined): boolean {
  return isWord(code) || code === 0x2b || code === 0x2f
}

export function isLower(code: number | undefined): boolean {
  return code !== undefined && code >= 0x61 && code <= 0x7a && code !== 0x73
}

/** The length of the run of letters and digits at `start`, up to `most`. */
export function runLength(bytes: Uint8Array, start: number, end: number, most: number): number {
  const to = Math.min(end, start + most)
  let at = start
  while (at < to && isWord(bytes[at])) at++
  return at - start
}
