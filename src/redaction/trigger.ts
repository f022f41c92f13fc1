/** The first, usually only, check of a text: may the default rules apply? A yes may be wrong, a no must not. */
import {
  firstPiece,
  fourAt,
  isFirst,
  isLast,
  largestPiece,
  piece,
  pieceMargin,
  setEdges,
} from './trigger-piece.js'
import { nowhere, messageMemory } from '../wire/index.js'
import { longText, pairSearch, preparePairSearch } from './pair-search.js'
import { isBase64, isLower, isWord, runLength } from './byte-kinds.js'
import { builtTables } from './built-tables.js'
import { FirstTexts } from './first-texts.js'
import { allGroups } from './literal-finder.js'
import { TriggerPairs, type Compiled, type Trigger } from './trigger-pairs.js'
import { isNoProgress } from './progress-token.js'
import { vendorNames } from './secret-names.js'
import { vendorRules } from './vendor-rules.js'
import { vendorShapes } from './vendor-shapes.js'
import { startsWord } from './word-start.js'

const BACKSLASH = 0x5c

/** Every short word occurs in base64 sooner or later; names are never that long. */
const longestName = 128
/** Number of bytes of a possible JWT that are examined. */
const longestJudged = 64

function isName(bytes: Uint8Array, start: number, end: number): boolean {
  const from = Math.max(0, start - longestName)
  const to = Math.min(end, start + longestName)
  for (let i = start - 1; i >= from; i--) if (!isBase64(bytes[i])) return true
  for (let i = start; i < to; i++) if (!isBase64(bytes[i])) return true
  // Too close to an edge: decided in the previous or the next piece.
  return (from === 0 && isFirst) || (to === end && isLast)
}

/** Number of bytes read between the halves of a name (`pass—word`); beyond that, a match is assumed. */
const longestJoint = longestName

/** Whether `w`, `p` or `c` follows `pass`, after any joint. */
function isPassName(bytes: Uint8Array, start: number, end: number): boolean {
  const before = bytes[start - 1]
  // `DB_PASS`, `dbPass`.
  if (
    (before === 0x5f || before === 0x2d || (bytes[start] === 0x50 && isWord(before))) &&
    !isWord(bytes[start + 4])
  )
    return true
  let pos = start + 4
  while (pos < end && pos < start + longestJoint) {
    const code = bytes[pos]!
    if (code === BACKSLASH) {
      // An escaped joint, or a letter, which is a trigger by itself.
      pos += bytes[pos + 1] === 0x75 ? 6 : 2
      continue
    }
    if (isWord(code)) {
      const letter = code | 0x20
      return (letter === 0x77 || letter === 0x70 || letter === 0x63) && isName(bytes, start, end)
    }
    pos++
  }
  return pos < end || !isLast
}

/** Whether `api`, `private` or `access` may precede `key`, with any joint between. */
function isKeyName(bytes: Uint8Array, start: number, end: number): boolean {
  let pos = start - 1
  const before = bytes[pos]
  const isPart = before === 0x5f || before === 0x2d || (bytes[start] === 0x4b && isWord(before))
  // `ENCRYPTION_KEY`, `signingKey`, `--key`; not `_keyboard`.
  if (isPart && !isLower(bytes[start + 3])) return isName(bytes, start, end)
  const least = start - longestJoint
  while (pos >= 0 && pos > least) {
    const code = bytes[pos]!
    if (isWord(code)) {
      if (bytes[pos - 1] === BACKSLASH) pos -= 2
      else if (bytes[pos - 5] === BACKSLASH && bytes[pos - 4] === 0x75) pos -= 6
      else {
        const letter = code | 0x20
        return (letter === 0x69 || letter === 0x65 || letter === 0x73) && isName(bytes, start, end)
      }
    } else pos--
  }
  // A name that begins in the previous piece is decided there.
  return pos >= 0
}

/** Whether a name ends here, and a value follows. */
function isAssigned(bytes: Uint8Array, start: number, end: number, length: number): boolean {
  let pos = start + length
  const least = pos
  while (pos < end && pos < least + 8) {
    const code = bytes[pos]!
    if (code === 0x3a || code === 0x3d || code === BACKSLASH) return !isWord(bytes[start - 1])
    if (code !== 0x22 && code !== 0x27 && code !== 0x20) return false
    pos++
  }
  return pos >= end && !isLast
}

/** A flag that ends here: `--pat x`, not `--path`. */
function isFlag(bytes: Uint8Array, start: number, _end: number, length: number): boolean {
  return !isWord(bytes[start + length]) && bytes[start + length] !== 0x2d
}

/** Whether a user and a host follow: an `@` before the path, or something undecidable from here. */
function hasUser(bytes: Uint8Array, start: number, end: number): boolean {
  let colon = -1
  let isPort = true
  for (let i = start + 3; i < end; i++) {
    const code = bytes[i]!
    if (code === 0x40 || code === BACKSLASH) return true
    if (code === 0x22 || code === 0x20) return false
    // The password may continue after the slash: see urlPassword.
    if (code === 0x2f) return colon >= 0 && !isPort
    if (code === 0x3a && colon < 0) colon = i
    else if (colon >= 0 && (code < 0x30 || code > 0x39)) isPort = false
  }
  // The next piece contains it too, with more text after it.
  return isLast ? false : end - start > overlap
}

/** For an escaped slash: only backslashes up to the slash. */
function isEscapedSlash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start + 1; i < end && i < start + longestTrigger; i++) {
    if (bytes[i] !== BACKSLASH) return bytes[i] === 0x2f
  }
  return true
}

/** Contains no `+` and no `/`, so it is not just a part of base64. */
function isBase64Url(bytes: Uint8Array, start: number, end: number): boolean {
  if (!startsWord(bytes, start)) return false
  const to = Math.min(end, start + longestJudged)
  for (let i = start; i < to; i++) {
    const code = bytes[i]
    if (code === 0x2e) return true
    if (!isWord(code) && code !== 0x2d && code !== 0x5f) return code === BACKSLASH
  }
  return true
}

/** `xoxb-` and the like. */
function isSlackToken(bytes: Uint8Array, start: number): boolean {
  const code = bytes[start + 4]
  return (
    startsWord(bytes, start) &&
    (code === 0x2d || code === 0x2e || code === BACKSLASH || bytes[start + 3] === BACKSLASH)
  )
}

function exactly(literal: string): Trigger {
  return { literal, exact: true }
}

const names: Trigger[] = [
  { literal: 'pass', confirm: isPassName },
  { literal: 'key', confirm: isKeyName },
  { literal: 'pwd', confirm: isName },
  { literal: 'secret', confirm: isName },
  { literal: 'token', confirm: isNoProgress },
  { literal: 'authoriz' },
  { literal: 'authoris' },
  { literal: 'bearer', confirm: isName },
  { literal: 'requestState', exact: true },
]

/** Triggers for secrets by place, or by a name that marks only some values. */
const places: Trigger[] = [
  ...['code_verifier', 'codeVerifier', 'device_code', 'deviceCode', 'client_assertion'].map(exactly),
  ...['onnectionString', 'onnection_string', '"kty"', '\\"kty', 'kind: Secret', 'sshpass'].map(exactly),
  ...['mysql', 'mariadb', ' -u', '--user', 'redis-cli', ' -P', '_auth='].map(exactly),
  ...['?key=', '&key=', 'sig=', 'ignature='].map(exactly),
  { literal: '<input' },
  { literal: 'form-data; name' },
  { literal: 'cookie', confirm: isAssigned },
  ...['--pat', '--auth', '--pass'].map((literal) => ({ literal, exact: true as const, confirm: isFlag })),
  ...vendorNames.flatMap((name) =>
    [`${name}: `, `${name}\\": `].map((literal) => ({ literal, exact: true as const, confirm: startsWord })),
  ),
]

const values: Trigger[] = [
  { literal: 'sk-', exact: true, confirm: startsWord },
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'].map(exactly),
  { literal: 'AKIA', exact: true, confirm: startsWord },
  { literal: 'ASIA', exact: true, confirm: startsWord },
  ...['whsec_', 'github_pat_', 'xapp-', '-----BEGIN', '.ssh'].map(exactly),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map(exactly),
  { literal: 'xox', exact: true, confirm: isSlackToken },
  { literal: 'hooks.slack' },
  { literal: 'eyJ', exact: true, confirm: isBase64Url },
  { literal: '://', confirm: hasUser },
  { literal: ':\\/' },
  { literal: ':\\\\', confirm: isEscapedSlash },
  { literal: '.env', exact: true, confirm: startsWord },
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'].map(exactly),
  // An escaped ASCII character can be a part of any of these.
  ...['2', '3', '4', '5', '6', '7'].map((digit) => ({ literal: `\\u00${digit}` })),
]

/** Tokens of vendors have at least so many characters after their prefix. */
const shortestRest = 10

/** Whether a run of characters follows that may be a token. */
function isToken(bytes: Uint8Array, start: number, end: number, length: number): boolean {
  if (bytes[start] !== 0x3a && !startsWord(bytes, start)) return false
  const to = Math.min(end, start + length + shortestRest)
  for (let i = start + length; i < to; i++) {
    const code = bytes[i]!
    if (code === BACKSLASH) return true
    if (!isBase64(code) && code !== 0x2d && code !== 0x5f && code !== 0x2e && code !== 0x7e) return false
  }
  return to === start + length + shortestRest || !isLast
}

/** Like isToken, for prefixes that occur in base64: not directly after a character that only base64 has there. */
function isBareToken(bytes: Uint8Array, start: number, end: number, length: number): boolean {
  const before = bytes[start - 1]
  return before !== 0x2b && before !== 0x2f && isToken(bytes, start, end, length)
}

/** Too frequent to trigger in every message; found in messages that are read for another reason. */
const frequent = /^(?:cio|sq[uap]_|nfo_|rnd_)/

/** A bare token with a run of at least `least` letters and digits, for prefixes that also occur in words and base64. */
function isLongToken(least: number): NonNullable<Trigger['confirm']> {
  return (bytes, start, end, length) =>
    isBareToken(bytes, start, end, length) &&
    (end - start < least + length || runLength(bytes, start + length, end, least) >= least)
}

const vendors: Trigger[] = [
  { literal: 'elegram.org/bot', exact: true as const },
  ...vendorRules
    .filter(({ prefix }) => !frequent.test(prefix))
    .map(({ prefix, run, least, before, after }) => ({
      literal: prefix,
      exact: true as const,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      confirm:
        run === 'word' && least >= 20
          ? isLongToken(Math.min(least, 32))
          : /^[A-Za-z0-9]+$/.test(prefix)
            ? isBareToken
            : isToken,
    })),
  ...vendorShapes
    .filter((shape) => shape.frequent !== true)
    .map(({ find: _, ...shape }) => ({ ...shape, exact: true as const })),
]

/** Longer than any trigger. */
const longestTrigger = 32
/** Ensures that every name is in one of two pieces with its surroundings. */
const overlap = 2 * longestName + longestTrigger

const encoder = new TextEncoder()
let made: TriggerPairs | undefined

export const triggers = [...names, ...places, ...values, ...vendors]

/** Created on first use: most commands check no text. */
const pairs = (): TriggerPairs => (made ??= new TriggerPairs(triggers, builtTables('triggers', triggers)))

const firstTexts = new FirstTexts(triggers)

/** The beginning of the trigger with a pair at `index`; -1 if there is none. */
function startAround(bytes: Uint8Array, index: number, end: number): number {
  const { counts, first, literals, offsets, distances, others } = pairs()
  const pair = (bytes[index]! & 127) | ((bytes[index + 1]! & 127) << 7)
  const last = first[pair]! + counts[pair]!
  for (let n = first[pair]!; n < last; n++) {
    // The last five bits are equal in both cases.
    if ((bytes[index + distances[n]!]! & 31) !== others[n]) continue
    const start = index - offsets[n]!
    if (confirms(literals[n]!, bytes, start, end)) return start
  }
  return -1
}

function confirms(trigger: Compiled, bytes: Uint8Array, start: number, end: number): boolean {
  const { bytes: wanted } = trigger
  if (start < 0 || start + wanted.length > end) return false
  for (let i = 0; i < wanted.length; i++) {
    const code = bytes[start + i]!
    const upper = !trigger.exact && code >= 0x41 && code <= 0x5a
    if ((upper ? code | 0x20 : code) !== wanted[i]) return false
  }
  return trigger.confirm?.(bytes, start, end, wanted.length) ?? true
}

/** Creates the tables in advance, so that the first long text need not wait for them. */
export function prepareTriggers(): void {
  pairs()
}

/** Whether the default rules must read `text`. */
export const hasTrigger = (text: string): boolean => findTrigger(text, 0) >= 0

/**
 * The position from which the default rules must read `text`, given that they have read it before `start`: at or before
 * the first trigger, usually close to it; -1 if there is none.
 */
export function findTrigger(text: string, start: number): number {
  if (!made && firstTexts.isWithout(text)) return -1
  const end = text.length
  if (end - start >= longText) preparePairSearch(pairs())
  let size = firstPiece
  for (let from = start; from < end; from += size - overlap, size = Math.min(4 * size, largestPiece)) {
    const to = Math.min(from + size, end)
    const length = encoder.encodeInto(from === 0 && to === end ? text : text.slice(from, to), piece).written
    setEdges(from === start, to === end)
    const index = findInPiece(length)
    // Bytes correspond to characters only if all are ASCII.
    if (index >= 0) return length === to - from ? from + index : from
    if (isLast) return -1
  }
  return -1
}

/** Whether the default rules must read the JSON text of an object in `bytes`, which is at `address` in `messageMemory`. */
export function bytesHaveTrigger(bytes: Uint8Array, start: number, end: number, address = nowhere): boolean {
  return address !== nowhere && messageMemory!.prepareSearch(pairs)
    ? memoryHasTrigger(bytes, start, end, address)
    : piecesHaveTrigger(bytes, start, end)
}

function piecesHaveTrigger(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= longText) preparePairSearch(pairs())
  let size = firstPiece
  for (let from = start; from < end; from += size - overlap, size = Math.min(4 * size, largestPiece)) {
    const to = Math.min(from + size, end)
    piece.set(bytes.subarray(from, to))
    setEdges(from === start, to === end)
    if (findInPiece(to - from) >= 0) return true
    if (isLast) return false
  }
  return false
}

/** As `bytesHaveTrigger`, for a text in the memory that begins and ends with a brace. */
function memoryHasTrigger(bytes: Uint8Array, start: number, end: number, address: number): boolean {
  const { call } = messageMemory!
  setEdges(true, true)
  for (let from = start; ; from += 8) {
    from = call.find(address + from, address + end) - address
    if (from >= end + 2) return false
    for (let pair = Math.max(start, from - 2); pair < from + 8; pair += 2)
      if (startAround(bytes, pair, end) >= 0) return true
  }
}

function findInPiece(length: number): number {
  const bytes = piece
  const { groupsByBytes: groups } = pairs()
  // Zeros after the text, which the last eight bytes may extend into.
  for (let i = length; i < length + pieceMargin; i++) bytes[i] = 0
  const end = (length + 6) >> 2
  const faster = length > longText / 4 ? pairSearch : undefined
  let known = allGroups
  for (let i = 0; i < end; i += 2) {
    const four = fourAt(i)
    const next = fourAt(i + 1)
    const a = groups[four & 0x7f7f]!
    const b = groups[(four >>> 16) & 0x7f7f]!
    const c = groups[next & 0x7f7f]!
    const d = groups[(next >>> 16) & 0x7f7f]!
    // One condition for the usual case, in which none of the four is met.
    if ((((known << 8) & a) | ((a << 8) & b) | ((b << 8) & c) | ((c << 8) & d)) !== 0) {
      let start = -1
      if ((known & (a >> 8)) !== 0) start = startAt(bytes, 4 * i, length)
      if (start < 0 && (a & (b >> 8)) !== 0) start = startAt(bytes, 4 * i + 2, length)
      if (start < 0 && (b & (c >> 8)) !== 0) start = startAt(bytes, 4 * i + 4, length)
      if (start < 0 && (c & (d >> 8)) !== 0) start = startAt(bytes, 4 * i + 6, length)
      if (start >= 0) return start
    }
    known = d
    if (!faster) continue
    // Continues with the next eight bytes that meet the condition.
    const at = faster.find(4 * i + 8, 4 * end)
    known = groups[(bytes[at - 2]! & 127) | ((bytes[at - 1]! & 127) << 8)]!
    i = at / 4 - 2
  }
  return -1
}

/** The beginning of a trigger with the pair at `index` or the one before; -1 if there is none. */
function startAt(bytes: Uint8Array, index: number, end: number): number {
  const start = index === 0 ? -1 : startAround(bytes, index - 2, end)
  return start >= 0 ? start : startAround(bytes, index, end)
}
