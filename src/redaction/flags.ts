/** Secrets behind the flags of a command line in a text: `login --password X`, `["--password","X"]`. */
import { endOfQuoted, endOfWord, valueAt } from './assigned-value.js'
import type { Finding } from './finding.js'
import { NameCache, secretTermOf } from './secret-names.js'

const flag =
  /(?<![\w-])--?([A-Za-z][\w.-]{0,127})(?:\\{0,8}["'`]\s{0,64},\s{0,64}(?=\\{0,8}["'`])|[ \t]{1,64})/g
const terms = new NameCache((name) => (name.startsWith('no-') ? '' : (secretTermOf(name) ?? '')))
const opening = /(\\*)(["'`])/y

/** Adds the word after each flag that is named as a secret. Linear. */
export function findFlags(text: string, found: Finding[]): void {
  flag.lastIndex = 0
  for (let match = flag.exec(text); match !== null; match = flag.exec(text)) {
    const term = terms.get(match[1] ?? '')
    if (term === '') continue
    const from = flag.lastIndex
    opening.lastIndex = from
    const [quoted, escapes = '', quote = ''] = opening.exec(text) ?? []
    const start = from + (quoted?.length ?? 0)
    const end = quoted === undefined ? endOfWord(text, from) : endOfQuoted(text, start, quote, escapes.length)
    const value = valueAt(text, start, end)
    if (value === undefined) continue
    found.push({ ...value, rule: `key:${term}` })
    flag.lastIndex = end
  }
}
