import { decodeString, skipString } from '../../wire/index.js'
import { hasLoneSurrogate } from '../session-json/demanding.js'

/** Maximum nesting of objects and arrays in readers, including those of the document. */
const deepest = 127

const number = /-?[0-9][0-9.eE+-]*/y

/**
 * The reason why readers would refuse the whole file because of this checked JSON text, in words for a
 * person; undefined when they accept it.
 *
 * @param outerDepth number of objects and arrays around the text
 * @param mayRepeat repeated members are allowed
 */
export function jsonRefusal(text: string, outerDepth: number, mayRepeat = false): string | undefined {
  if (hasLoneSurrogate(text)) return 'it has a lone surrogate'
  /** Member names so far per open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (let at = 0; at < text.length;) {
    const character = text[at]!
    if (character === '"') {
      const end = skipString(text, at)
      const names = open.at(-1)
      if (isName && names) {
        const name = decodeString(text, at, end)
        if (names.has(name) && !mayRepeat) return 'it has a repeated member'
        names.add(name)
      }
      isName = false
      at = end
      continue
    }
    if (character === '{' || character === '[') {
      if (outerDepth + open.length >= deepest) return 'it is nested too deeply'
      open.push(character === '{' ? new Set() : undefined)
      isName = character === '{'
    } else if (character === '}' || character === ']') {
      open.pop()
      isName = false
    } else if (character === ',') {
      isName = open.at(-1) !== undefined
    } else {
      number.lastIndex = at
      const digits = number.exec(text)?.[0]
      if (digits !== undefined) {
        if (!Number.isFinite(Number(digits))) return 'it has a number that is too large'
        at += digits.length
        continue
      }
    }
    at += 1
  }
  return undefined
}
