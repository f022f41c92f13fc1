import { compilePattern } from '../json-path/index.js'
import type { TextTest } from './condition.js'

export type TextMatch = (text: string) => boolean

/** Each match takes linear time. The pattern is already validated. */
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

/** Ignores letter case. For a literal without alternatives, the engine searches in place, without a copy. */
function containing(text: string): TextMatch {
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'i')
  return (other) => pattern.test(other)
}

/** `*` matches any characters, or none. Each piece is matched at its first occurrence, without backtracking. */
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

/** Matches a JSON text as written, and with its escapes decoded: for a person, `é` and `\u00e9` are the same. */
export function matchesJson(match: TextMatch, json: string): boolean {
  if (match(json)) return true
  return json.includes('\\') && match(withoutEscapes(json))
}

/** A JSON text with each escape decoded; no longer valid JSON. */
export function withoutEscapes(json: string): string {
  return json.replace(escapes, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
