import {
  bytesOf,
  matches,
  numberAt,
  skipAny,
  skipCount,
  skipPlainText,
  skipSpace,
  unusualValues,
} from '../../wire/index.js'
import type { PlainLine } from './plain-line.js'
import { nextMember, readMessage, skipName } from './read-plain-message.js'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x7b
const CLOSE = 0x7d
const LF = 0x0a

const head = bytesOf('{"t":"')
const incoming = bytesOf(',"dir":"in","raw":{')
const outgoing = bytesOf(',"dir":"out","raw":{')
const isTrue = bytesOf('true')
const isNull = bytesOf('null')

/** Member names of lines and HTTP contexts, with closing quote. */
const names = {
  id: bytesOf('id"'),
  status: bytesOf('status"'),
  exchange: bytesOf('exchange"'),
  corr: bytesOf('corr"'),
  late: bytesOf('late"'),
  seq: bytesOf('seq"'),
  us: bytesOf('us"'),
  conv: bytesOf('conv"'),
  http: bytesOf('http"'),
  sse: bytesOf('sse"'),
  red: bytesOf('red"'),
  eol: bytesOf('eol"'),
}

/**
 * Reads the line at `start`, checking every byte, and returns the offset of its line feed. -1 for anything else, or
 * for a line that needs the full reader (a batch, a handshake, metadata, a changed message, links, escaped names, …);
 * `line` is then invalid. The bytes end with a line feed.
 */
export function readPlainLine(bytes: Uint8Array, start: number, line: PlainLine): number {
  if (!matches(bytes, start, head)) return -1
  let at = skipPlainText(bytes, start + head.length)
  if (at < 0) return -1
  line.timeStart = start + head.length
  line.timeEnd = at - 1
  line.fromServer = !matches(bytes, at, incoming)
  if (line.fromServer && !matches(bytes, at, outgoing)) return -1
  line.rawStart = at + (line.fromServer ? outgoing.length : incoming.length) - 1
  const unusual = unusualValues.count
  at = readMessage(bytes, line.rawStart + 1, line)
  if (at < 0) return -1
  line.unusual = unusualValues.count !== unusual
  line.rawEnd = at
  line.encodedStart = -1
  at = readRest(bytes, at, line)
  return at > 0 && bytes[at] === LF ? at : -1
}

/** As `readPlainLine`, for a line that is the message itself, without a time. */
export function readPlainMessage(bytes: Uint8Array, start: number, line: PlainLine): number {
  if (bytes[start] !== OPEN) return -1
  const unusual = unusualValues.count
  line.isTimed = false
  const at = readMessage(bytes, start + 1, line)
  if (at < 0 || bytes[at] !== LF || line.isTimed) return -1
  line.unusual = unusualValues.count !== unusual
  line.rawStart = start
  line.rawEnd = at
  line.timeStart = line.timeEnd = line.encodedStart = -1
  line.fromServer = false
  forgetRest(line)
  return at
}

/** The members of a line after `raw`. */
function readRest(bytes: Uint8Array, start: number, line: PlainLine): number {
  forgetRest(line)
  let at = start
  while (bytes[at] === COMMA) {
    const name = at + 2
    const value = skipName(bytes, at + 1)
    if (value < 0) return -1
    at = readRestMember(bytes, name, value, line)
    if (at < 0) return -1
  }
  return bytes[at] === CLOSE ? at + 1 : -1
}

function forgetRest(line: PlainLine): void {
  line.idStart = line.corrStart = line.seq = line.us = line.conversationStart = -1
  line.late = line.redacted = line.http = line.sse = line.frameEnd = false
  line.httpStatus = 0
  line.httpExchange = -1
}

/** Repeated members need the full reader. */
function readRestMember(bytes: Uint8Array, name: number, value: number, line: PlainLine): number {
  // Most lines have only four of these.
  switch (bytes[name]) {
    case 0x69: // i
      if (!matches(bytes, name, names.id) || line.idStart >= 0 || bytes[value] !== QUOTE) return -1
      line.idStart = value + 1
      line.idEnd = skipPlainText(bytes, value + 1) - 1
      return line.idEnd + 1
    case 0x63: // c
      return readNamed(bytes, name, value, line)
    case 0x73: // s
      if (matches(bytes, name, names.seq)) {
        if (line.seq >= 0) return -1
        const end = skipCount(bytes, value)
        line.seq = numberAt(bytes, value, end)
        return end
      }
      if (!matches(bytes, name, names.sse) || bytes[value] !== OPEN) return -1
      line.sse = true
      return skipAny(bytes, value)
    case 0x75: {
      // u
      if (!matches(bytes, name, names.us) || line.us >= 0) return -1
      const end = skipCount(bytes, value)
      line.us = numberAt(bytes, value, end)
      return end
    }
    case 0x6c: // l
      if (!matches(bytes, name, names.late) || !matches(bytes, value, isTrue)) return -1
      line.late = true
      return value + isTrue.length
    case 0x68: // h
      if (!matches(bytes, name, names.http) || line.http || bytes[value] !== OPEN) return -1
      line.http = true
      return readHttp(bytes, value + 1, line)
    case 0x72: // r
      if (!matches(bytes, name, names.red)) return -1
      line.redacted = true
      return skipAny(bytes, value)
    default:
      if (!matches(bytes, name, names.eol)) return -1
      line.frameEnd = true
      return skipAny(bytes, value)
  }
}

/** `corr` and `conv`. */
function readNamed(bytes: Uint8Array, name: number, value: number, line: PlainLine): number {
  if (bytes[value] !== QUOTE) return -1
  const end = skipPlainText(bytes, value + 1)
  if (matches(bytes, name, names.corr)) {
    if (line.corrStart >= 0) return -1
    line.corrStart = value + 1
    line.corrEnd = end - 1
    return end
  }
  if (!matches(bytes, name, names.conv) || line.conversationStart >= 0) return -1
  line.conversationStart = value + 1
  line.conversationEnd = end - 1
  return end
}

function readHttp(bytes: Uint8Array, start: number, line: PlainLine): number {
  let at = skipSpace(bytes, start)
  if (bytes[at] === CLOSE) return at + 1
  for (;;) {
    const name = at + 1
    const value = skipName(bytes, at)
    if (value < 0) return -1
    if (matches(bytes, name, names.status) && bytes[value]! !== isNull[0]) {
      at = skipCount(bytes, value)
      line.httpStatus = numberAt(bytes, value, at)
    } else if (matches(bytes, name, names.exchange)) {
      at = skipCount(bytes, value)
      line.httpExchange = numberAt(bytes, value, at)
    } else at = skipAny(bytes, value)
    at = nextMember(bytes, at)
    if (at < 0 || bytes[at] === CLOSE) return at < 0 ? -1 : at + 1
  }
}
