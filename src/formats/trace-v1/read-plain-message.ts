import { bytesOf, matches, skipAny, skipNumber, skipPlainText, skipSpace } from '../../wire/index.js'
import type { PlainLine } from './plain-line.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN = 0x7b
const CLOSE = 0x7d

const isTrue = bytesOf('true')
const version = bytesOf('"2.0"')
const complete = bytesOf('"complete"')
const handshake = bytesOf('initialize')
const progress = bytesOf('notifications/progress')
const cancelled = bytesOf('notifications/cancelled')

/** Member names of messages, params, results, errors and `_meta`, with closing quote. */
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
  requestState: bytesOf('requestState"'),
  inputRequests: bytesOf('inputRequests"'),
  inputResponses: bytesOf('inputResponses"'),
  roots: bytesOf('roots"'),
  role: bytesOf('role"'),
  action: bytesOf('action"'),
  timestamp: bytesOf('timestamp'),
}

/** From behind the opening brace of a message to behind its closing one. */
export function readMessage(bytes: Uint8Array, start: number, line: PlainLine): number {
  line.rpcIdStart = line.methodStart = line.subjectStart = line.codeStart = line.messageStart = -1
  line.argumentsStart = line.tokenStart = -1
  line.toolError = line.isTelling = false
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
    } else {
      if (matches(bytes, name, names.timestamp)) line.isTimed = true
      at = skipAny(bytes, value)
    }
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
    if (matches(bytes, line.methodStart, progress) || matches(bytes, line.methodStart, cancelled))
      line.isTelling = true
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
    if (bytes[name] === 0x72 || bytes[name] === 0x69)
      line.isTelling ||=
        matches(bytes, name, names.requestState) || matches(bytes, name, names.inputResponses)
    if (matches(bytes, name, names.name)) found = 3
    else if (matches(bytes, name, names.uri)) found = 2
    else if (matches(bytes, name, names.taskId)) found = 1
    else if (matches(bytes, name, names.ref)) return -1
    if (found > 0) {
      if (found === 1) line.isTelling = true
      // Of repeated members the last one counts, if it is a text: that needs the full reader.
      if (found === rank || bytes[value] !== QUOTE) return -1
      at = skipPlainText(bytes, value + 1)
      if (found > rank) {
        rank = found
        line.subjectStart = value + 1
        line.subjectEnd = at - 1
      }
    } else if (matches(bytes, name, names.meta)) at = skipPlainMeta(bytes, value, line)
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
function skipPlainMeta(bytes: Uint8Array, start: number, line: PlainLine): number {
  line.tokenStart = -1
  if (bytes[start] !== OPEN) return -1
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === CLOSE) return at + 1
  const name = at + 1
  const value = skipName(bytes, at)
  if (value < 0 || !matches(bytes, name, names.progressToken)) return -1
  const end = skipId(bytes, value)
  line.tokenStart = value
  line.tokenEnd = end
  at = nextMember(bytes, end)
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
    else if (
      matches(bytes, name, names.requestState) ||
      matches(bytes, name, names.inputRequests) ||
      matches(bytes, name, names.roots) ||
      matches(bytes, name, names.role) ||
      matches(bytes, name, names.action)
    )
      line.isTelling = true
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

/** From the opening quote of a member's name to its value. */
export function skipName(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) return -1
  let at = skipPlainText(bytes, start + 1)
  if (at < 0) return -1
  at = skipSpace(bytes, at)
  return bytes[at] === COLON ? skipSpace(bytes, at + 1) : -1
}

/** From behind a value to the next name, or to the closing brace. */
export function nextMember(bytes: Uint8Array, end: number): number {
  if (end < 0) return -1
  const at = skipSpace(bytes, end)
  if (bytes[at] === CLOSE) return at
  return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : -1
}
