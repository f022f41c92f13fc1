import { compilePattern } from '../json-path/index.js'
import type { TextTest } from './condition.js'

export type TextMatch = (text: string) => boolean

/** Each takes linear time, whatever the text. The pattern has been checked. */
export function compileTextTest({ how, text, ignoreCase = false }: TextTest): TextMatch {
  switch (how) {
    case 'exact':
      return (other) => other === text
    case 'contains':
      return containing(text)
    case 'glob':
      return matchingGlob(text)
    case 'pattern': {
      const pattern = compilePattern(text, ignoreCase)
      return (other) => pattern.test(other)
    }
  }
}

/** Letter case makes no difference. The engine looks for a text without alternatives in place, without a copy. */
function containing(text: string): TextMatch {
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'i')
  return (other) => pattern.test(other)
}

/** `*` stands for any characters, also none. Each piece is taken where it comes first: nothing is tried again. */
function matchingGlob(glob: string): TextMatch {
  const [first = '', ...others] = glob.split('*')
  const last = others.pop()
  if (last === undefined) return (text) => text === glob
  return (text) => {
    const end = text.length - last.length
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let pos = first.length
    for (const piece of others) {
      const at = text.indexOf(piece, pos)
      if (at < 0) return false
      pos = at + piece.length
    }
    return pos <= end
  }
}

const escapes = /\\(?:u([0-9a-fA-F]{4})|(.))/g
const letters: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

/**
 * Looks into a JSON text as it is written, and as it reads without its escapes: `é` and `\u00e9` are the same to a
 * person.
 */
export function matchesJson(match: TextMatch, json: string): boolean {
  if (match(json)) return true
  return json.includes('\\') && match(withoutEscapes(json))
}

/** A JSON text with each escape replaced by its character: no JSON any more. */
export function withoutEscapes(json: string): string {
  return json.replace(escapes, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
