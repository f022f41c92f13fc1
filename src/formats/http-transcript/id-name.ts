import { canonicalNumber, decodeString } from '../../wire/index.js'

/** Equal for all ids, given as exact JSON text, that any reader considers equal: `1`, `1.0` and `"1"`. */
export function idName(idText: string): string {
  const id = idText.startsWith('"') ? decodeString(idText, 0, idText.length) : idText
  return /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(id) ? canonicalNumber(id) : id
}

/** Equal only for ids that all readers consider equal. */
export function exactId(idText: string): string {
  return idText.startsWith('"') ? `"${decodeString(idText, 0, idText.length)}` : idText
}
