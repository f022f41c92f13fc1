/** Whether a character may follow the backslash of a short escape in a JSON string. */
export function isShortEscape(code: number | undefined): boolean {
  switch (code) {
    case 0x22: // "
    case 0x5c: // backslash
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return true
    default:
      return false
  }
}

export function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)
}
