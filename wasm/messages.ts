/**
 * The plain way of a message, in AssemblyScript: reads it, looks for anything suspicious, and writes its line. The engine
 * compiles it once, without first running it slowly. `src/wire/plain-message.ts`, `src/redaction/trigger.ts` and
 * `src/formats/trace-v1/message-line.ts` give the same results, and say more about the rules.
 *
 * Messages are in the module's memory, and a line feed follows each. Positions are addresses; -1 means that the message
 * is not plain.
 */

const LF: u32 = 0x0a
const QUOTE: u32 = 0x22
const COMMA: u32 = 0x2c
const COLON: u32 = 0x3a
const BACKSLASH: u32 = 0x5c
const OPEN_ARRAY: u32 = 0x5b
const CLOSE_ARRAY: u32 = 0x5d
const OPEN_OBJECT: u32 = 0x7b
const CLOSE_OBJECT: u32 = 0x7d

/** Digits that a JavaScript number always holds exactly. */
const mostDigits: i32 = 15
/** Deeper values are refused. */
const deepest: i32 = 200

function byteAt(at: i32): u32 {
  return load<u8>(at)
}

function matches(at: i32, word: string): bool {
  const letters = changetype<usize>(word)
  for (let i = 0; i < word.length; i++) if (byteAt(at + i) != <u32>load<u16>(letters + 2 * i)) return false
  return true
}

function isWord(at: i32, length: i32, word: string): bool {
  return length == word.length && matches(at, word)
}

function skipSpace(start: i32): i32 {
  let at = start
  while (byteAt(at) == 0x20 || byteAt(at) == 0x09) at++
  return at
}

/** Position of the next quote, backslash, control character or byte beyond ASCII. */
function runEnd(start: i32): i32 {
  let at = start
  while (true) {
    const sixteen = v128.load(at)
    const quotes = i8x16.eq(sixteen, i8x16.splat(0x22))
    const backslashes = i8x16.eq(sixteen, i8x16.splat(0x5c))
    // As signed numbers, bytes beyond ASCII are below 0x20 too.
    const others = i8x16.lt_s(sixteen, i8x16.splat(0x20))
    const ends = i8x16.bitmask(v128.or(v128.or(quotes, backslashes), others))
    if (ends != 0) return at + ctz(ends)
    at += 16
  }
}

function isHex(code: u32): bool {
  return code - 0x30 < 10 || (code | 0x20) - 0x61 < 6
}

/** @param at just after the backslash */
function skipEscape(at: i32): i32 {
  switch (byteAt(at)) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 1
    case 0x75: {
      for (let i = 1; i < 5; i++) if (!isHex(byteAt(at + i))) return -1
      return at + 5
    }
    default:
      return -1
  }
}

function isTrail(byte: u32): bool {
  return (byte & 0xc0) == 0x80
}

/** One character of two to four bytes in valid UTF-8 (Unicode, table 3-7). */
function skipWide(start: i32): i32 {
  const first = byteAt(start)
  const second = byteAt(start + 1)
  if (first < 0xc2 || first > 0xf4) return -1
  if (first < 0xe0) return isTrail(second) ? start + 2 : -1
  const least: u32 = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80
  const most: u32 = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf
  if (second < least || second > most || !isTrail(byteAt(start + 2))) return -1
  if (first < 0xf0) return start + 3
  return isTrail(byteAt(start + 3)) ? start + 4 : -1
}

/** @param start just after the opening quote */
function skipText(start: i32): i32 {
  let at = start
  while (true) {
    at = runEnd(at)
    const byte = byteAt(at)
    if (byte == QUOTE) return at + 1
    if (byte < 0x20) return -1
    at = byte == BACKSLASH ? skipEscape(at + 1) : skipWide(at)
    if (at < 0) return -1
  }
}

/** As `skipText`, for ASCII text without escapes only. */
function skipPlainText(start: i32): i32 {
  const at = runEnd(start)
  return byteAt(at) == QUOTE ? at + 1 : -1
}

function skipDigits(start: i32): i32 {
  let at = start
  while (byteAt(at) - 0x30 < 10) at++
  return at == start ? -1 : at
}

/** A number without sign, fraction or leading zeros. */
function skipCount(start: i32): i32 {
  const at = skipDigits(start)
  return at - start > mostDigits || (byteAt(start) == 0x30 && at - start > 1) ? -1 : at
}

function skipNumber(start: i32): i32 {
  let at = byteAt(start) == 0x2d ? start + 1 : start
  at = byteAt(at) == 0x30 ? at + 1 : skipDigits(at)
  if (at > 0 && byteAt(at) == 0x2e) at = skipDigits(at + 1)
  if (at > 0 && (byteAt(at) | 0x20) == 0x65) {
    const sign = byteAt(at + 1)
    at = skipDigits(sign == 0x2b || sign == 0x2d ? at + 2 : at + 1)
  }
  return at
}

/** Numbers stand for `true`, `alse` and `null`, which are read at once. */
function skipAny(start: i32, depth: i32): i32 {
  switch (byteAt(start)) {
    case QUOTE:
      return skipText(start + 1)
    case OPEN_OBJECT:
      return depth < deepest ? skipObject(start + 1, depth + 1) : -1
    case OPEN_ARRAY:
      return depth < deepest ? skipArray(start + 1, depth + 1) : -1
    case 0x74:
      return load<u32>(start) == 0x65757274 ? start + 4 : -1
    case 0x66:
      return load<u32>(start + 1) == 0x65736c61 ? start + 5 : -1
    case 0x6e:
      return load<u32>(start) == 0x6c6c756e ? start + 4 : -1
    default:
      return skipNumber(start)
  }
}

/** From the opening quote of a name to its value; -1 if there is none. */
function skipColon(nameEnd: i32): i32 {
  if (nameEnd < 0) return -1
  const at = skipSpace(nameEnd)
  return byteAt(at) == COLON ? skipSpace(at + 1) : -1
}

function skipObject(start: i32, depth: i32): i32 {
  let at = skipSpace(start)
  if (byteAt(at) == CLOSE_OBJECT) return at + 1
  while (true) {
    if (byteAt(at) != QUOTE) return -1
    at = skipColon(skipText(at + 1))
    if (at < 0) return -1
    at = skipAny(at, depth)
    if (at < 0) return -1
    at = skipSpace(at)
    if (byteAt(at) == CLOSE_OBJECT) return at + 1
    if (byteAt(at) != COMMA) return -1
    at = skipSpace(at + 1)
  }
}

function skipArray(start: i32, depth: i32): i32 {
  let at = skipSpace(start)
  if (byteAt(at) == CLOSE_ARRAY) return at + 1
  while (true) {
    at = skipAny(at, depth)
    if (at < 0) return -1
    at = skipSpace(at)
    if (byteAt(at) == CLOSE_ARRAY) return at + 1
    if (byteAt(at) != COMMA) return -1
    at = skipSpace(at + 1)
  }
}

/** Bits of the known members of a message. */
const JSONRPC: i32 = 1
const ID: i32 = 2
const METHOD: i32 = 4
const PARAMS: i32 = 8
const RESULT: i32 = 16
const ERROR: i32 = 32

/** Of the message that is being read. */
let seen: i32 = 0
let idStart: i32 = 0
let idEnd: i32 = 0
let methodStart: i32 = 0
let methodEnd: i32 = 0
let subjectStart: i32 = 0
let subjectEnd: i32 = 0
let uriStart: i32 = 0
let uriEnd: i32 = 0

function bitOf(name: i32, length: i32): i32 {
  if (length == 2) return matches(name, 'id') ? ID : 0
  if (length == 5) return matches(name, 'error') ? ERROR : 0
  if (length == 7) return matches(name, 'jsonrpc') ? JSONRPC : 0
  if (length != 6) return 0
  if (matches(name, 'result')) return RESULT
  if (matches(name, 'method')) return METHOD
  return matches(name, 'params') ? PARAMS : 0
}

function member(name: i32, length: i32, start: i32): i32 {
  const bit = bitOf(name, length)
  if (bit == 0) return skipAny(start, 0)
  if ((seen & bit) != 0) return -1
  seen |= bit
  switch (bit) {
    case JSONRPC:
      return matches(start, '"2.0"') ? start + 5 : -1
    case ID:
      idStart = start
      idEnd = byteAt(start) == QUOTE ? skipPlainText(start + 1) : skipCount(start)
      return idEnd
    case METHOD: {
      if (byteAt(start) != QUOTE) return -1
      const end = skipPlainText(start + 1)
      methodStart = start + 1
      methodEnd = end - 1
      return end
    }
    case PARAMS:
      return inside(start, true)
    case RESULT:
      return inside(start, false)
    default:
      return -1
  }
}

/** The members of `params` or `result`. */
function inside(start: i32, isParams: bool): i32 {
  if (byteAt(start) != OPEN_OBJECT) return -1
  let at = skipSpace(start + 1)
  if (byteAt(at) == CLOSE_OBJECT) return at + 1
  while (true) {
    if (byteAt(at) != QUOTE) return -1
    const name = at + 1
    const nameEnd = skipPlainText(name)
    at = skipColon(nameEnd)
    if (at < 0) return -1
    const length = nameEnd - 1 - name
    at = isParams ? param(name, length, at) : resultMember(name, length, at)
    if (at < 0) return -1
    at = skipSpace(at)
    if (byteAt(at) == CLOSE_OBJECT) return at + 1
    if (byteAt(at) != COMMA) return -1
    at = skipSpace(at + 1)
  }
}

/** Members of `params` that relate a message to others, or may do so. */
function isLinking(name: i32, length: i32): bool {
  if (length == 3) return matches(name, 'ref')
  if (length == 5) return matches(name, '_meta')
  if (length == 6) return matches(name, 'taskId')
  if (length == 9) return matches(name, 'requestId')
  if (length == 12) return matches(name, 'requestState')
  if (length == 13) return matches(name, 'progressToken')
  return length == 14 && matches(name, 'inputResponses')
}

/** Members of a result that relate it to others, or mark an error. */
function isTelling(name: i32, length: i32): bool {
  if (length == 4) return matches(name, 'task')
  if (length == 5) return matches(name, '_meta')
  if (length == 7) return matches(name, 'isError')
  if (length == 10) return matches(name, 'resultType')
  if (length == 12) return matches(name, 'requestState')
  return length == 13 && matches(name, 'inputRequests')
}

function param(name: i32, length: i32, start: i32): i32 {
  if (isLinking(name, length)) return -1
  const isName = isWord(name, length, 'name')
  if (!isName && !isWord(name, length, 'uri')) return skipAny(start, 0)
  if ((isName ? subjectEnd : uriEnd) > 0 || byteAt(start) != QUOTE) return -1
  const end = skipPlainText(start + 1)
  if (isName) {
    subjectStart = start + 1
    subjectEnd = end - 1
  } else {
    uriStart = start + 1
    uriEnd = end - 1
  }
  return end
}

function resultMember(name: i32, length: i32, start: i32): i32 {
  if (!isTelling(name, length)) return skipAny(start, 0)
  // The two values without any meaning.
  if (isWord(name, length, 'resultType')) return matches(start, '"complete"') ? start + 10 : -1
  return isWord(name, length, 'isError') && matches(start, 'false') ? start + 5 : -1
}

/** 1 for a request, 2 for a notification, 3 for a result, 0 for all others. */
function kindOf(members: i32): i32 {
  if (members == (JSONRPC | ID | RESULT)) return 3
  const withoutParams = members & ~PARAMS
  if (withoutParams == (JSONRPC | ID | METHOD)) return 1
  return withoutParams == (JSONRPC | METHOD) ? 2 : 0
}

/** Where `read` puts the kind and the start and end of id, method and subject, as 32-bit numbers. */
const found: usize = memory.data(28, 16)

/** Reads the message at `start`. Returns the position after its line feed. */
export function read(start: i32): i32 {
  if (byteAt(start) != OPEN_OBJECT) return -1
  seen = idStart = idEnd = methodStart = methodEnd = subjectStart = subjectEnd = uriStart = uriEnd = 0
  let at = skipSpace(start + 1)
  while (true) {
    if (byteAt(at) != QUOTE) return -1
    const name = at + 1
    const nameEnd = skipPlainText(name)
    at = skipColon(nameEnd)
    if (at < 0) return -1
    at = member(name, nameEnd - 1 - name, at)
    if (at < 0) return -1
    at = skipSpace(at)
    if (byteAt(at) == CLOSE_OBJECT) break
    if (byteAt(at) != COMMA) return -1
    at = skipSpace(at + 1)
  }
  const kind = kindOf(seen)
  if (kind == 0 || byteAt(at + 1) != LF) return -1
  if (kind == 1 && isWord(methodStart, methodEnd - methodStart, 'subscriptions/listen')) return -1
  const isUri = subjectEnd == 0 && uriEnd > 0
  store<i32>(found, kind)
  store<i32>(found, idStart, 4)
  store<i32>(found, idEnd, 8)
  store<i32>(found, methodStart, 12)
  store<i32>(found, methodEnd, 16)
  store<i32>(found, isUri ? uriStart : subjectStart, 20)
  store<i32>(found, isUri ? uriEnd : subjectEnd, 24)
  return at + 2
}

/** Tables of `TriggerPairs`. */
const groups: usize = memory.data(1 << 16, 16)
const counts: usize = memory.data(1 << 14, 16)
const first: usize = memory.data(1 << 15, 16)
/** Room for so many literals. */
const mostLiterals: i32 = 4096
const distances: usize = memory.data(mostLiterals, 16)
const others: usize = memory.data(mostLiterals, 16)

/** The groups of the pair of characters at `at`. */
function groupsAt(at: i32): u32 {
  return load<u16>(groups + 2 * (<usize>load<u16>(at) & 0x7f7f))
}

/** Whether a literal may be around the pair at `pair`: the first check of `startAround`. */
function mayBeAround(pair: i32): bool {
  const two = <u32>load<u16>(pair)
  const index = (two & 0x7f) | ((two >> 1) & 0x3f80)
  let n = <u32>load<u16>(first + 2 * index)
  const last = n + <u32>load<u8>(counts + index)
  for (; n < last; n++) {
    const other = byteAt(pair + <i32>load<i8>(distances + n))
    if ((other & 31) == <u32>load<u8>(others + n)) return true
  }
  return false
}

function mayBeAt(pair: i32): bool {
  return mayBeAround(pair - 2) || mayBeAround(pair)
}

/** Position of the next eight bytes that a literal may be around; at least `end` + 2 if there are none. */
export function find(start: i32, end: i32): i32 {
  let known: u32 = 0xff
  let at = start
  for (; at < end + 2; at += 8) {
    const a = groupsAt(at)
    const b = groupsAt(at + 2)
    const c = groupsAt(at + 4)
    const d = groupsAt(at + 6)
    if ((((known << 8) & a) | ((a << 8) & b) | ((b << 8) & c) | ((c << 8) & d)) != 0) {
      const isAny =
        ((known & (a >> 8)) != 0 && mayBeAt(at)) ||
        ((a & (b >> 8)) != 0 && mayBeAt(at + 2)) ||
        ((b & (c >> 8)) != 0 && mayBeAt(at + 4)) ||
        ((c & (d >> 8)) != 0 && mayBeAt(at + 6))
      if (isAny) return at
    }
    known = d
  }
  return at
}

/** The key of `MessageIds`. */
const key: usize = memory.data(16, 16)

/** The last step of MurmurHash3. */
function mixed(word: u32): u32 {
  let it = word ^ (word >> 16)
  it *= 0x85ebca6b
  it ^= it >> 13
  it *= 0xc2b2ae35
  return it ^ (it >> 16)
}

/** The eight hexadecimal digits of a word as ASCII, the first one lowest. */
function hexOf(word: u32): u64 {
  let digits: u64 = bswap<u32>(word)
  digits = ((digits & 0xffff0000) << 16) | (digits & 0xffff)
  digits = ((digits & 0x0000ff000000ff00) << 8) | (digits & 0x000000ff000000ff)
  digits = ((digits >> 4) & 0x000f000f000f000f) | ((digits & 0x000f000f000f000f) << 8)
  const letters = ((digits + 0x0606060606060606) >> 4) & 0x0101010101010101
  return digits + 0x3030303030303030 + letters * 0x27
}

/** As `MessageIds.write`. */
function putId(place: u32, to: i32): i32 {
  const a = mixed(place ^ load<u32>(key))
  const b = mixed(place + load<u32>(key, 4))
  const c = mixed(a ^ load<u32>(key, 8))
  const d = mixed(b ^ load<u32>(key, 12))
  const second = hexOf((b & 0xffff0fff) | 0x4000)
  const third = hexOf((c & 0x3fffffff) | 0x80000000)
  store<u64>(to, hexOf(a))
  store<u8>(to, 0x2d, 8)
  store<u32>(to, <u32>second, 9)
  store<u8>(to, 0x2d, 13)
  store<u32>(to, <u32>(second >> 32), 14)
  store<u8>(to, 0x2d, 18)
  store<u32>(to, <u32>third, 19)
  store<u8>(to, 0x2d, 23)
  store<u32>(to, <u32>(third >> 32), 24)
  store<u64>(to, hexOf(d), 28)
  return to + 36
}

function putCount(count: u64, to: i32): i32 {
  let end = to + 1
  for (let rest = count; rest >= 10; rest /= 10) end++
  let rest = count
  for (let at = end - 1; at >= to; at--) {
    store<u8>(at, <u32>(0x30 + (rest % 10)))
    rest /= 10
  }
  return end
}

function put(word: string, to: i32): i32 {
  const letters = changetype<usize>(word)
  for (let i = 0; i < word.length; i++) store<u8>(to + i, load<u8>(letters + 2 * i))
  return to + word.length
}

/**
 * Writes the line of a message to `to`. Returns the position after it.
 *
 * @param answers the place of the request that a result answers, otherwise -1
 */
export function write(
  head: i32,
  headLength: i32,
  start: i32,
  end: i32,
  id: f64,
  answers: f64,
  seq: f64,
  us: f64,
  to: i32,
): i32 {
  memory.copy(to, head, headLength)
  let at = to + headLength
  memory.copy(at, start, end - start)
  at = putId(<u32>id, put(',"id":"', at + end - start))
  if (answers >= 0) at = putId(<u32>answers, put('","corr":"', at))
  at = putCount(<u64>seq, put('","seq":', at))
  return put('}\n', putCount(<u64>us, put(',"us":', at)))
}

/** Addresses of: the results of `read`, the tables in their order, the key, and the free memory. */
export function address(index: i32): usize {
  switch (index) {
    case 0:
      return found
    case 1:
      return groups
    case 2:
      return counts
    case 3:
      return first
    case 4:
      return distances
    case 5:
      return others
    case 6:
      return key
    default:
      return (__heap_base + 15) & ~15
  }
}
