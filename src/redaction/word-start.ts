import { isWord } from './byte-kinds.js'

/** Length of the longest escape before a word: `\u001b[38;5;208m`. */
export const longestEscape = 32

/**
 * Escapes that may directly precede a word and end in a letter or digit: `\n` and `\u000a` (JSON inside a string),
 * `%20` (a URL), `=3D` (quoted-printable mail), a terminal colour, also without its escape character.
 */
const escapes = [
  String.raw`\\(?:[abfnrtv0]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[0-7]{3})`,
  '%[0-9A-Fa-f]{2}',
  '=3D',
  String.raw`(?:\u001b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;?]{0,16}[A-Za-z]`,
  String.raw`\[[0-9;]{1,16}m`,
]
const escapeAtEnd = new RegExp(`(?:${escapes.join('|')})$`)

/** Whether a word may start after `before`; its last `longestEscape` characters are enough. */
export function mayPrecedeWord(before: string): boolean {
  return !/[A-Za-z0-9]$/.test(before) || escapeAtEnd.test(before)
}

/** Whether a word can begin at `start`. */
export function startsWord(bytes: Uint8Array, start: number): boolean {
  if (!isWord(bytes[start - 1])) return true
  const before = bytes.subarray(Math.max(0, start - longestEscape), start)
  return mayPrecedeWord(String.fromCharCode(...before))
}
