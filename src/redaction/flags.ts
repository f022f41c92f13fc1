/** Secrets after the flags of a command line in a text: `login --password X`, `["--password","X"]`, `mysql -pX`. */
import { endOfQuoted, endOfWord, valueAt, wordEnd } from './assigned-value.js'
import type { Finding } from './finding.js'
import { NextIndex } from './next-index.js'
import { isPlaceholder, isStatus, looksLikeCredentials, looksMade } from './secret-looks.js'
import { judgeName, nameCache, type NameVerdict } from './secret-names.js'

const flag =
  /-(?<![\w-]-)-?([A-Za-z][\w.-]{0,127})(?:\\{0,8}["'`]\s{0,64},\s{0,64}(?=\\{0,8}["'`])|[ \t]{1,64}|=(?=\S))/g
const opening = /(\\*)(["'`])/y

/** Flags that take credentials, though elsewhere these names mean nothing. */
const flags = new Map<string, NameVerdict>([
  ['key', { term: 'key', needs: 'credentials' }],
  ['pat', { term: 'pat', needs: 'credentials' }],
  ['auth', { term: 'auth', needs: 'credentials' }],
  ['pass', { term: 'password', needs: 'any' }],
  ['credentials', { term: 'credentials', needs: 'credentials' }],
])
const short = new Map<string, NameVerdict>(
  ['p', 't', 'k', 'a'].map((name) => [name, { term: `-${name}`, needs: 'made' }]),
)

/** The verdict of a flag (without its hyphens) about the next word. */
export function judgeFlag(name: string): NameVerdict | undefined {
  return name.startsWith('no-') ? undefined : (flags.get(name) ?? short.get(name) ?? judgeName(name))
}

const verdicts = nameCache(judgeFlag)

/** Whether the word after a flag is a secret. `broad`: only a command line can have such a flag. */
export function isFlagValue(value: string, { needs, term }: NameVerdict, broad: boolean): boolean {
  if (isPlaceholder(value)) return false
  if (needs === 'made') return looksMade(value)
  if (needs === 'credentials') return looksLikeCredentials(value, false) && value.length >= 8
  // The name of a value in a usage text.
  if (/^[A-Z][A-Z_]+\]?$/.test(value) && value.length < 24 && value.replace(/\W/g, '').length > 1)
    return false
  if (broad) return true
  return !isStatus(value) && looksLikeCredentials(value, term.startsWith('pass'))
}

/** Adds the word after each flag that names a secret. Linear. */
export function findFlags(text: string, until: number, broad: boolean, found: Finding[]): void {
  const next = new NextIndex(text)
  flag.lastIndex = 0
  for (let match = flag.exec(text); match !== null && match.index < until; match = flag.exec(text)) {
    const verdict = verdicts.get(match[1] ?? '')
    if (verdict === undefined) continue
    const from = flag.lastIndex
    opening.lastIndex = from
    const [quoted, escapes = '', quote = ''] = opening.exec(text) ?? []
    const start = from + (quoted?.length ?? 0)
    const end =
      quoted === undefined ? wordEnd(text, from, next) : endOfQuoted(text, start, quote, escapes.length)
    const value = valueAt(text, start, end)
    if (value === undefined || !isFlagValue(text.slice(start, Math.min(end, start + 1024)), verdict, broad))
      continue
    found.push({ ...value, rule: `key:${verdict.term}` })
    flag.lastIndex = end
  }
  findLogins(text, until, found)
}

/** Programs with short options for passwords, and the beginnings of these options. */
const programs: readonly (readonly [program: string, option: RegExp])[] = [
  ['mysql', /(?:^|\s)-p(?=[^\s-])(?!assword|ort\b|rotocol|ipe\b|ager)/g],
  ['mariadb', /(?:^|\s)-p(?=[^\s-])(?!assword|ort\b|rotocol|ipe\b|ager)/g],
  ['sshpass', /(?:^|\s)-p\s{0,8}/g],
  ['login', /(?:^|\s)-p\s{1,8}/g],
  ['mongo', /(?:^|\s)-p\s{1,8}/g],
  ['curl', /(?:^|\s)(?:-u\s{0,8}|--user[ =])["']?[^\s:"'$<]{0,128}:/g],
  ['http', /(?:^|\s)-a\s{1,8}["']?[^\s:"'$<]{1,128}:/g],
  ['redis-cli', /(?:^|\s)-a\s{1,8}/g],
  ['unzip', /(?:^|\s)-P\s{0,8}/g],
  ['zip', /(?:^|\s)-P\s{0,8}/g],
  ['7z', /(?:^|\s)-p(?=\S)/g],
  ['ldap', /(?:^|\s)-w\s{1,8}/g],
  ['sqlcmd', /(?:^|\s)-P\s{1,8}/g],
  ['az ', /(?:^|\s)-p\s{1,8}/g],
]
const longestCommand = 2048

/** Adds the text after `-p` and `-u user:` of programs with such options, within one line. */
function findLogins(text: string, until: number, found: Finding[]): void {
  // The last line continues beyond `until`.
  if (!hasLogin(text.slice(0, until + longestCommand))) return
  let start = 0
  while (start < until) {
    const feed = text.indexOf('\n', start)
    const line = text.slice(start, Math.min(feed < 0 ? text.length : feed, start + longestCommand))
    for (const { value, at, term } of line.includes('-') ? loginsIn(line) : []) {
      if (isPlaceholder(value) || /^(?:user|password|pass|x)$/i.test(value)) continue
      found.push({ start: start + at, end: start + at + value.length, rule: `key:${term}` })
    }
    start = feed < 0 ? text.length : feed + 1
  }
}

function hasLogin(text: string): boolean {
  // Hyphens are rarer than blanks.
  for (let at = text.indexOf('-'); at >= 0; at = text.indexOf('-', at + 1)) {
    if (text[at - 1] === ' ' && /^(?:[puaPw]|-user)/.test(text.slice(at + 1, at + 6))) return true
  }
  return false
}

interface Login {
  readonly value: string
  readonly at: number
  readonly term: string
}

function loginsIn(line: string): Login[] {
  const logins: Login[] = []
  for (const [program, option] of programs) {
    const begin = line.indexOf(program)
    if (begin < 0) continue
    option.lastIndex = begin + program.length
    for (let match = option.exec(line); match !== null; match = option.exec(line)) {
      const quoted = /["']/.exec(match[0])?.[0] ?? /^["']/.exec(line.slice(option.lastIndex))?.[0]
      const from = /["']/.test(match[0]) || quoted === undefined ? option.lastIndex : option.lastIndex + 1
      const close = quoted === undefined ? -1 : line.indexOf(quoted, from)
      const end = quoted === undefined ? endOfWord(line, from) : close < 0 ? line.length : close
      if (end <= from) continue
      logins.push({ value: line.slice(from, end), at: from, term: program === 'curl' ? 'login' : 'password' })
      option.lastIndex = end
    }
  }
  return logins
}

/** The secret inside one argument of a command, by the program before it: `mysql` `-pX`, `curl` `-u` `me:X`. */
export function loginArgument(argv: readonly string[], i: number): { readonly kept: string } | undefined {
  const argument = argv[i] ?? ''
  const program =
    argv
      .slice(0, i)
      .find((word) => programs.some(([name]) => baseOf(word) === name || baseOf(word).startsWith(name))) ?? ''
  const before = argv[i - 1] ?? ''
  const name = baseOf(program)
  if (/^(?:mysql|mariadb|7z)/.test(name) && /^-p(?!assword|ort\b)./.test(argument)) return { kept: '-p' }
  if (/^(?:sshpass|unzip|zip|redis-cli|mongo)/.test(name) && /^-[pPa]$/.test(before)) return { kept: '' }
  const user = /^(?:(?:-u|--user=)?[^\s:/$<]{0,128}:)(?=.)/.exec(argument)?.[0]
  if (
    user !== undefined &&
    /^(?:curl|http)/.test(name) &&
    (/^(?:-u|--user|-a)$/.test(before) || /^(?:-u|--user=)/.test(argument))
  )
    return isPlaceholder(argument.slice(user.length)) ? undefined : { kept: user }
  return undefined
}

function baseOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
