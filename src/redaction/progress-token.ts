const progress = [0x70, 0x72, 0x6f, 0x67, 0x72, 0x65, 0x73, 0x73]

/** A progress token is usually a number, which is never a secret: such a message need not be read. */
export function isNoProgress(bytes: Uint8Array, start: number, end: number): boolean {
  if (start < 8 || !progress.every((code, i) => bytes[start - 8 + i] === code)) return true
  let pos = start + 5
  if (bytes[pos++] !== 0x22) return true
  while (pos < end && (bytes[pos] === 0x20 || bytes[pos] === 0x3a)) pos++
  const code = bytes[pos]
  return pos >= end || code === undefined || !(code === 0x2d || (code >= 0x30 && code <= 0x39))
}
