/**
 * Messages of the plain shape, read as bytes in one pass. Checks the JSON, finds the line end, and notes the positions
 * of the members that relate messages. Creates no text and no object. Unusual messages are refused and take the general
 * path (`line-framer.ts`, `json-scan.ts`, `envelope.ts`), which gives the same result for plain ones.
 */
import { messageMemory, nowhere } from './message-memory.js'
import { bytesOf, matches, skipAny, skipCount, skipPlainText, skipSpace } from './json-bytes.js'

const LF = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The plain kinds. Errors are rare and take the general path. */
export type PlainKind = 'request' | 'notification' | 'result'

/** Positions in the most recently read message. Reused for each one. */
export class PlainMessage {
  kind: PlainKind = 'request'
  /** The exact JSON text of the id of a request or a result. */
  idStart = 0
  idEnd = 0
  /** The method of a request or notification, without quotes, like all following texts. */
  methodStart = 0
  methodEnd = 0
  /** `params.name`, otherwise `params.uri`; zeros when both are absent. */
  subjectStart = 0
  subjectEnd = 0

  #seen = 0
  #uriStart = 0
  #uriEnd = 0

  /**
   * Index after the line feed of the message at `start`, or -1 when it is not plain. A line feed must follow in
   * `bytes`.
   *
   * @param address of `bytes` in `messageMemory`
   */
  read(bytes: Uint8Array, start: number, address = nowhere): number {
    return address === nowhere ? this.#readBytes(bytes, start) : this.#readIn(address, start)
  }

  #readBytes(bytes: Uint8Array, start: number): number {
    if (bytes[start] !== OPEN_OBJECT) return -1
    this.#seen = 0
    this.idStart = this.idEnd = this.methodStart = this.methodEnd = 0
    this.subjectStart = this.subjectEnd = this.#uriStart = this.#uriEnd = 0
    let at = skipSpace(bytes, start + 1)
    for (;;) {
      if (bytes[at] !== QUOTE) return -1
      const name = at + 1
      const nameEnd = skipPlainText(bytes, name)
      if (nameEnd < 0) return -1
      at = skipSpace(bytes, nameEnd)
      if (bytes[at] !== COLON) return -1
      at = this.#member(bytes, name, nameEnd - 1 - name, skipSpace(bytes, at + 1))
      if (at < 0) return -1
      at = skipSpace(bytes, at)
      if (bytes[at] === CLOSE_OBJECT) break
      if (bytes[at] !== COMMA) return -1
      at = skipSpace(bytes, at + 1)
    }
    if (bytes[at + 1] !== LF) return -1
    const { [this.#seen]: kind } = kinds
    if (kind === undefined) return -1
    this.kind = kind
    if (this.subjectEnd === 0 && this.#uriEnd > 0) {
      this.subjectStart = this.#uriStart
      this.subjectEnd = this.#uriEnd
    }
    if (kind === 'request' && this.methodEnd - this.methodStart === listen.length)
      if (matches(bytes, this.methodStart, listen)) return -1
    return at + 2
  }

  /** Positions are relative to the address. */
  #readIn(address: number, start: number): number {
    const { call, found } = messageMemory!
    const end = call.read(address + start)
    if (end < 0) return -1
    this.kind = kindsInMemory[found[0]!]!
    this.idEnd = Math.max(0, found[2]! - address)
    this.idStart = Math.max(0, found[1]! - address)
    this.methodEnd = Math.max(0, found[4]! - address)
    this.methodStart = Math.max(0, found[3]! - address)
    this.subjectEnd = Math.max(0, found[6]! - address)
    this.subjectStart = Math.max(0, found[5]! - address)
    return end - address
  }

  /** A member of the message. A known member that is repeated, or has an unusual kind of value, is not plain. */
  #member(bytes: Uint8Array, name: number, length: number, start: number): number {
    const bit = topMember(bytes, name, length)
    if (bit === 0) return skipAny(bytes, start)
    if ((this.#seen & bit) !== 0) return -1
    this.#seen |= bit
    switch (bit) {
      case JSONRPC:
        return matches(bytes, start, version) ? start + version.length : -1
      case ID:
        this.idStart = start
        return (this.idEnd = skipId(bytes, start))
      case METHOD: {
        if (bytes[start] !== QUOTE) return -1
        const end = skipPlainText(bytes, start + 1)
        this.methodStart = start + 1
        this.methodEnd = end - 1
        return end
      }
      case PARAMS:
        return this.#inside(bytes, start, true)
      case RESULT:
        return this.#inside(bytes, start, false)
      default:
        return -1
    }
  }

  /** The members of `params` or `result`. */
  #inside(bytes: Uint8Array, start: number, isParams: boolean): number {
    if (bytes[start] !== OPEN_OBJECT) return -1
    let at = skipSpace(bytes, start + 1)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      if (bytes[at] !== QUOTE) return -1
      const name = at + 1
      const nameEnd = skipPlainText(bytes, name)
      if (nameEnd < 0) return -1
      at = skipSpace(bytes, nameEnd)
      if (bytes[at] !== COLON) return -1
      at = skipSpace(bytes, at + 1)
      const length = nameEnd - 1 - name
      at = isParams ? this.#param(bytes, name, length, at) : resultMember(bytes, name, length, at)
      if (at < 0) return -1
      at = skipSpace(bytes, at)
      if (bytes[at] === CLOSE_OBJECT) return at + 1
      if (bytes[at] !== COMMA) return -1
      at = skipSpace(bytes, at + 1)
    }
  }

  #param(bytes: Uint8Array, name: number, length: number, start: number): number {
    if (isOneOf(bytes, name, length, linking)) return -1
    const isName = length === nameWord.length && matches(bytes, name, nameWord)
    const isUri = length === uriWord.length && matches(bytes, name, uriWord)
    if (!isName && !isUri) return skipAny(bytes, start)
    if ((isName ? this.subjectEnd : this.#uriEnd) > 0 || bytes[start] !== QUOTE) return -1
    const end = skipPlainText(bytes, start + 1)
    if (isName) {
      this.subjectStart = start + 1
      this.subjectEnd = end - 1
    } else {
      this.#uriStart = start + 1
      this.#uriEnd = end - 1
    }
    return end
  }
}

const JSONRPC = 1
const ID = 2
const METHOD = 4
const PARAMS = 8
const RESULT = 16
const OTHER = 32

/** The kind for each set of present members. */
const kinds: readonly (PlainKind | undefined)[] = Array.from({ length: 64 }, (_, seen) => {
  if (seen === (JSONRPC | ID | RESULT)) return 'result'
  const withoutParams = seen & ~PARAMS
  if (withoutParams === (JSONRPC | ID | METHOD)) return 'request'
  return withoutParams === (JSONRPC | METHOD) ? 'notification' : undefined
})

/** As the module numbers them. */
const kindsInMemory: readonly PlainKind[] = ['request', 'request', 'notification', 'result']

const version = bytesOf('"2.0"')
const listen = bytesOf('subscriptions/listen')
const nameWord = bytesOf('name')
const uriWord = bytesOf('uri')
const words = {
  jsonrpc: bytesOf('jsonrpc'),
  id: bytesOf('id'),
  method: bytesOf('method'),
  params: bytesOf('params'),
  result: bytesOf('result'),
  error: bytesOf('error'),
}

/** The bit of a known member, or 0. */
function topMember(bytes: Uint8Array, name: number, length: number): number {
  switch (length) {
    case 2:
      return matches(bytes, name, words.id) ? ID : 0
    case 5:
      return matches(bytes, name, words.error) ? OTHER : 0
    case 6:
      if (matches(bytes, name, words.method)) return METHOD
      if (matches(bytes, name, words.params)) return PARAMS
      return matches(bytes, name, words.result) ? RESULT : 0
    case 7:
      return matches(bytes, name, words.jsonrpc) ? JSONRPC : 0
    default:
      return 0
  }
}

/** Members of `params` that relate a message to others, or may do so. */
const linking = byLength(
  '_meta',
  'taskId',
  'ref',
  'requestState',
  'inputResponses',
  'progressToken',
  'requestId',
)
/** Members of a result that relate it to others, or mark an error. */
const telling = byLength('_meta', 'task', 'isError', 'requestState', 'inputRequests', 'resultType')
const resultType = bytesOf('resultType')
const complete = bytesOf('"complete"')
const isError = bytesOf('isError')
const falseWord = bytesOf('false')

function resultMember(bytes: Uint8Array, name: number, length: number, start: number): number {
  if (!isOneOf(bytes, name, length, telling)) return skipAny(bytes, start)
  // The two values without any meaning.
  if (length === resultType.length && matches(bytes, name, resultType))
    return matches(bytes, start, complete) ? start + complete.length : -1
  if (length === isError.length && matches(bytes, name, isError))
    return matches(bytes, start, falseWord) ? start + falseWord.length : -1
  return -1
}

function byLength(...names: string[]): readonly (readonly Uint8Array[])[] {
  const lists: Uint8Array[][] = Array.from({ length: 32 }, () => [])
  for (const name of names) lists[name.length]!.push(bytesOf(name))
  return lists
}

function isOneOf(
  bytes: Uint8Array,
  name: number,
  length: number,
  names: readonly (readonly Uint8Array[])[],
): boolean {
  if (length >= names.length) return false
  const list = names[length]!
  for (let i = 0; i < list.length; i += 1) if (matches(bytes, name, list[i]!)) return true
  return false
}

/** The digits of a short number, or a text without escapes. */
function skipId(bytes: Uint8Array, start: number): number {
  return bytes[start] === QUOTE ? skipPlainText(bytes, start + 1) : skipCount(bytes, start)
}
