/** Reads a message of the plain shape, with the results of `src/wire/plain-message.ts`, which says more about the rules. */
import {
  byteAt,
  CLOSE_OBJECT,
  COMMA,
  isWord,
  LF,
  matches,
  OPEN_OBJECT,
  QUOTE,
  skipAny,
  skipColon,
  skipCount,
  skipPlainText,
  skipSpace,
} from './json'

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
export const found: usize = memory.data(28, 16)

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
