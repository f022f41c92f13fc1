import { canonicalNumber } from './json-numbers.js'
import { decodeString } from './json-strings.js'

/**
 * Canonical form of a JSON-RPC id or progress token, given as exact JSON text: equal for equal ids (`1` and
 * `1.0`, `"a"` and `"\u0061"`), different for `1` and `"1"`.
 */
export function idKey(idText: string): string {
  const first = idText.charCodeAt(0)
  if (first === 0x22) return `"${decodeString(idText, 0, idText.length)}`
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return canonicalNumber(idText)
  return idText
}
