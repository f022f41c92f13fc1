import {
  bytesOf,
  matches,
  numberAt,
  skipAny,
  skipCount,
  skipNumber,
  skipPlainText,
  skipSpace,
  unusualValues,
} from '../../wire/index.js'
import type { PlainLine } from './plain-line.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN = 0x7b
const CLOSE = 0x7d
const LF = 0x0a

const head = bytesOf('{"t":"')
const incoming = bytesOf(',"dir":"in","raw":{')
const outgoing = bytesOf(',"dir":"out","raw":{')
const isTrue = bytesOf('true')
const isNull = bytesOf('null')
const version = bytesOf('"2.0"')
const complete = bytesOf('"complete"')
const handshake = bytesOf('initialize')

/** Member names of messages, params, results, errors, `_meta`, HTTP contexts and lines, with closing quote. */
const names = {
  id: bytesOf('id"'),
  jsonrpc: bytesOf('jsonrpc"'),
  method: bytesOf('method"'),
  params: bytesOf('params"'),
  result: bytesOf('result"'),
  error: bytesOf('error"'),
  name: bytesOf('name"'),
  uri: bytesOf('uri"'),
  ref: bytesOf('ref"'),
  taskId: bytesOf('taskId"'),
  arguments: bytesOf('arguments"'),
  meta: bytesOf('_meta"'),
  task: bytesOf('task"'),
  serverInfo: bytesOf('serverInfo"'),
  resultType: bytesOf('resultType"'),
  toolError: bytesOf('isError"'),
  code: bytesOf('code"'),
  message: bytesOf('message"'),
  progressToken: bytesOf('progressToken"'),
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
  at = readRest(bytes, at, line)
  return at > 0 && bytes[at] === LF ? at : -1
}

/** From behind the opening brace of a message to behind its closing one. */
function readMessage(bytes: Uint8Array, start: number, line: PlainLine): number {
  line.rpcIdStart = line.methodStart = line.subjectStart = line.codeStart = line.messageStart = -1
  line.argumentsStart = -1
  line.toolError = false
  let hasVersion = false
  let hasParams = false
  let hasResult = false
  let hasError = false
  let at = skipSpace(bytes, start)
  for (;;) {
    const name = at + 1
    const value = skipName(bytes, at)
    if (value < 0) return -1
    if (matches(bytes, name, names.id)) {
      if (line.rpcIdStart >= 0) return -1
      line.rpcIdStart = value
      line.rpcIdEnd = at = skipId(bytes, value)
    } else if (matches(bytes, name, names.jsonrpc)) {
      if (hasVersion || !matches(bytes, value, version)) return -1
      hasVersion = true
      at = value + version.length
    } else if (matches(bytes, name, names.method)) {
      if (line.methodStart >= 0 || bytes[value] !== QUOTE) return -1
      at = skipPlainText(bytes, value + 1)
      line.methodStart = value + 1
      line.methodEnd = at - 1
    } else if (matches(bytes, name, names.params)) {
      if (hasParams || bytes[value] !== OPEN) return -1
      hasParams = true
      at = readParams(bytes, value + 1, line)
    } else if (matches(bytes, name, names.result)) {
      if (hasResult || bytes[value] !== OPEN) return -1
      hasResult = true
      at = readResult(bytes, value + 1, line)
    } else if (matches(bytes, name, names.error)) {
      if (hasError || bytes[value] !== OPEN) return -1
      hasError = true
      at = readError(bytes, value + 1, line)
    } else at = skipAny(bytes, value)
    at = nextMember(bytes, at)
    if (at < 0) return -1
    if (bytes[at] === CLOSE) break
  }
  if (!hasVersion) return -1
  const isCall = line.methodStart >= 0
  if (isCall ? hasResult || hasError : line.rpcIdStart < 0 || hasResult === hasError) return -1
  if (isCall) {
    if (line.methodEnd - line.methodStart === handshake.length && matches(bytes, line.methodStart, handshake))
      return -1
    line.kind = line.rpcIdStart < 0 ? 'notification' : 'request'
  } else {
    line.subjectStart = -1
    line.kind = hasResult ? 'result' : 'error'
  }
  return at + 1
}

/** A number, or a string without escapes. */
function skipId(bytes: Uint8Array, start: number): number {
  return bytes[start] === QUOTE ? skipPlainText(bytes, start + 1) : skipNumber(bytes, start)
}

/** Finds the subject of a request: a name has priority over a URI, a URI over a task id. */
function readParams(bytes: Uint8Array, start: number, line: PlainLine): number {
  let rank = 0
  let at = skipSpace(bytes, start)
  if (bytes[at] === CLOSE) return at + 1
  for (;;) {
    const name = at + 1
    const value = skipName(bytes, at)
    if (value < 0) return -1
    let found = 0
    if (matches(bytes, name, names.name)) found = 3
    else if (matches(bytes, name, names.uri)) found = 2
    else if (matches(bytes, name, names.taskId)) found = 1
    else if (matches(bytes, name, names.ref)) return -1
    if (found > 0) {
      // Of repeated members the last one counts, if it is a text: that needs the full reader.
      if (found === rank || bytes[value] !== QUOTE) return -1
      at = skipPlainText(bytes, value + 1)
      if (found > rank) {
        rank = found
        line.subjectStart = value + 1
        line.subjectEnd = at - 1
      }
    } else if (matches(bytes, name, names.meta)) at = skipPlainMeta(bytes, value)
    else if (matches(bytes, name, names.arguments)) {
      if (line.argumentsStart >= 0) return -1
      line.argumentsStart = value
      line.argumentsEnd = at = skipAny(bytes, value)
    } else at = skipAny(bytes, value)
    at = nextMember(bytes, at)
    if (at < 0 || bytes[at] === CLOSE) return at < 0 ? -1 : at + 1
  }
}

/** Metadata with only a progress token. */
function skipPlainMeta(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== OPEN) return -1
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE) return at + 1
  const name = at + 1
  const value = skipName(bytes, at)
  if (value < 0 || !matches(bytes, name, names.progressToken)) return -1
  at = nextMember(bytes, skipAny(bytes, value))
  return at > 0 && bytes[at] === CLOSE ? at + 1 : -1
}

function readResult(bytes: Uint8Array, start: number, line: PlainLine): number {
  let hasFlag = false
  let at = skipSpace(bytes, start)
  if (bytes[at] === CLOSE) return at + 1
  for (;;) {
    const name = at + 1
    const value = skipName(bytes, at)
    if (value < 0) return -1
    if (matches(bytes, name, names.toolError)) {
      if (hasFlag) return -1
      hasFlag = true
      line.toolError = matches(bytes, value, isTrue)
    } else if (matches(bytes, name, names.resultType)) {
      if (!matches(bytes, value, complete)) return -1
    } else if (
      matches(bytes, name, names.meta) ||
      matches(bytes, name, names.task) ||
      matches(bytes, name, names.taskId) ||
      matches(bytes, name, names.serverInfo)
    )
      return -1
    at = nextMember(bytes, skipAny(bytes, value))
    if (at < 0 || bytes[at] === CLOSE) return at < 0 ? -1 : at + 1
  }
}

function readError(bytes: Uint8Array, start: number, line: PlainLine): number {
  let at = skipSpace(bytes, start)
  if (bytes[at] === CLOSE) return at + 1
  for (;;) {
    const name = at + 1
    const value = skipName(bytes, at)
    if (value < 0) return -1
    if (matches(bytes, name, names.code)) {
      if (line.codeStart >= 0) return -1
      at = skipNumber(bytes, value)
      line.codeStart = value
      line.codeEnd = at
    } else if (matches(bytes, name, names.message)) {
      if (line.messageStart >= 0 || bytes[value] !== QUOTE) return -1
      at = skipPlainText(bytes, value + 1)
      line.messageStart = value + 1
      line.messageEnd = at - 1
    } else at = skipAny(bytes, value)
    at = nextMember(bytes, at)
    if (at < 0 || bytes[at] === CLOSE) return at < 0 ? -1 : at + 1
  }
}

/** The members of a line after `raw`. */
function readRest(bytes: Uint8Array, start: number, line: PlainLine): number {
  line.idStart = line.corrStart = line.seq = line.us = line.conversationStart = -1
  line.late = line.redacted = line.http = line.sse = line.frameEnd = false
  line.httpStatus = 0
  line.httpExchange = -1
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

/** From the opening quote of a member's name to its value. */
function skipName(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) return -1
  let at = skipPlainText(bytes, start + 1)
  if (at < 0) return -1
  at = skipSpace(bytes, at)
  return bytes[at] === COLON ? skipSpace(bytes, at + 1) : -1
}

/** From behind a value to the next name, or to the closing brace. */
function nextMember(bytes: Uint8Array, end: number): number {
  if (end < 0) return -1
  const at = skipSpace(bytes, end)
  if (bytes[at] === CLOSE) return at
  return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : -1
}
