import { decodeString, skipString, skipWhiteSpace } from '../../wire/index.js'
import { placeOf } from './json-place.js'
import type { Profile } from './profile.js'
import { jsonFault } from './strict-json.js'

/** As `jsonFault`; the strict profile also refuses objects with repeated members. */
export function faultOf(profile: Profile, text: string, outerDepth = 0, line = 1): string | undefined {
  const fault = jsonFault(text, outerDepth, line)
  if (fault !== undefined || profile === 'documented') return fault
  const at = repeatedMemberAt(text)
  return at === -1 ? undefined : `${repeatedMember} at ${placeOf(text, at, line)}`
}

export const repeatedMember = 'JSON object contains a duplicate member'

/**
 * End of the name of the first repeated member, at any depth; -1 for none.
 *
 * @param text checked JSON
 */
function repeatedMemberAt(text: string): number {
  /** Member names so far per open object; `undefined` for an array. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x7b) open.push(new Set())
    else if (code === 0x5b) open.push(undefined)
    else if (code === 0x7d || code === 0x5d) open.pop()
    else if (code === 0x22) {
      const end = skipString(text, at)
      const names = open.at(-1)
      if (names && text.charCodeAt(skipWhiteSpace(text, end)) === 0x3a) {
        const before = names.size
        if (names.add(decodeString(text, at, end)).size === before) return end - 1
      }
      at = end - 1
    }
  }
  return -1
}
