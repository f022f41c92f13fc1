import { bytesOf } from '../../wire/index.js'
import { isWritable, tapeTime } from '../session-json/time.js'
import type { PlainLine } from './plain-line.js'

/** Data of a session file that all its entries need. */
export interface EntryForm {
  /** Start of the session, microseconds since the epoch. */
  readonly startMicros: number
  readonly transport: string
  /** Entries lack the data that depends on other messages. Their lines have no data of wiretape's recorder. */
  readonly isOpen: boolean
}

const [QUOTE, MINUS, POINT, ZERO, SPACE, Z] = [0x22, 0x2d, 0x2e, 0x30, 0x20, 0x5a]
/** Bytes of an entry besides its texts. */
const fixedBytes = 512
/** Longer numbers are checked elsewhere. */
const longestNumber = 32
/** `2026-11-21T01:33:10.`, and the whole time of a tape. */
const [secondLength, timeLength] = [20, 24]
const words = {
  start: bytesOf('\n    },\n    {\n      "proxy_id": "'),
  sequence: bytesOf('",\n      "sequence": '),
  time: bytesOf(',\n      "timestamp": "'),
  method: bytesOf(',\n      "method": '),
  correlated: bytesOf(',\n      "correlated_id": '),
  payload: bytesOf(',\n      "modified": false,\n      "payload": '),
  null: bytesOf('null'),
}

/** Bytes between an open entry's two parts and its payload. */
export const openPayloadAt = words.payload.length

/**
 * Writes entries of a session file for a chunk's lines that hold all data of their entries, each after the end of the
 * entry before it: the same bytes as `plainEntry`.
 */
export class EntryBytes {
  readonly #startMicros: number
  readonly #isOpen: boolean
  readonly #fromClient: Uint8Array
  readonly #fromServer: Uint8Array
  /** The last second that was written. */
  #second = Number.NaN
  #secondText: Uint8Array = new Uint8Array(0)

  constructor({ startMicros, transport, isOpen }: EntryForm) {
    this.#isOpen = isOpen
    const from = (side: string): Uint8Array =>
      bytesOf(
        `+00:00",\n      "direction": "${side}",\n      "transport": "${transport}",\n      "jsonrpc_id": `,
      )
    this.#startMicros = startMicros
    this.#fromClient = from('client_to_server')
    this.#fromServer = from('server_to_client')
  }

  /**
   * Writes an entry up to its payload; of an open one, its id and method, and then what follows the id of the request.
   *
   * @returns its end; -1 if the entry needs further data, or lacks room
   */
  put(bytes: Uint8Array, line: PlainLine, target: Uint8Array, start: number): number {
    if (fixedBytes + lengthOfTexts(line) > target.length - start) return -1
    if (this.#isOpen) return isOpen(line) && isSound(bytes, line) ? putOpen(bytes, line, target, start) : -1
    if (!isComplete(bytes, line) || !isSound(bytes, line)) return -1
    const micros = this.#startMicros + line.us
    if (!this.#isAt(micros, bytes, line)) return -1
    let at = copied(words.start, target, start)
    at = copiedRange(bytes, line.idStart, line.idEnd, target, at)
    at = putDigits(line.seq, target, copied(words.sequence, target, at))
    at = this.#putTime(micros, target, copied(words.time, target, at))
    at = copied(line.fromServer ? this.#fromServer : this.#fromClient, target, at)
    at = putCall(bytes, line, target, at)
    at = putText(bytes, line.corrStart - 1, line.corrEnd + 1, target, at)
    return copied(words.payload, target, at)
  }

  /** Whether the line's wall clock shows this time, in the form of tapes. */
  #isAt(micros: number, bytes: Uint8Array, { timeStart, timeEnd }: PlainLine): boolean {
    const second = Math.floor(micros / 1_000_000)
    if (second !== this.#second) {
      if (!isWritable(micros)) return false
      this.#second = second
      this.#secondText = bytesOf(tapeTime(micros).slice(0, secondLength))
    }
    if (timeEnd - timeStart !== timeLength || bytes[timeEnd - 1] !== Z) return false
    const text = this.#secondText
    for (let i = 0; i < secondLength; i += 1) if (bytes[timeStart + i] !== text[i]) return false
    let rest = Math.floor((micros - second * 1_000_000) / 1000)
    for (let at = timeEnd - 2; at >= timeStart + secondLength; at -= 1) {
      const next = Math.floor(rest / 10)
      if (bytes[at] !== ZERO + rest - 10 * next) return false
      rest = next
    }
    return true
  }

  #putTime(micros: number, target: Uint8Array, start: number): number {
    const at = copied(this.#secondText, target, start)
    let rest = micros - this.#second * 1_000_000
    if (rest === 0) return at - 1
    for (let i = 5; i >= 0; i -= 1) {
      const next = Math.floor(rest / 10)
      target[at + i] = ZERO + rest - 10 * next
      rest = next
    }
    target[at - 1] = POINT
    return at + 6
  }
}

function lengthOfTexts(line: PlainLine): number {
  return (
    line.idEnd -
    line.idStart +
    (line.corrStart < 0 ? 0 : line.corrEnd - line.corrStart) +
    (line.rpcIdStart < 0 ? 0 : line.rpcIdEnd - line.rpcIdStart) +
    (line.methodStart < 0 ? 0 : line.methodEnd - line.methodStart)
  )
}

function putOpen(bytes: Uint8Array, line: PlainLine, target: Uint8Array, start: number): number {
  line.openEnd = putCall(bytes, line, target, start)
  return copied(words.payload, target, line.openEnd)
}

/** The id and the method, up to the id of the request. Offsets of methods exclude their quotes. */
function putCall(bytes: Uint8Array, line: PlainLine, target: Uint8Array, start: number): number {
  const idEnd = putText(bytes, line.rpcIdStart, line.rpcIdEnd, target, start)
  const methodAt = copied(words.method, target, idEnd)
  const methodEnd = putText(bytes, line.methodStart - 1, line.methodEnd + 1, target, methodAt)
  return copied(words.correlated, target, methodEnd)
}

/** Whether the line tells all of its entry. */
function isComplete(bytes: Uint8Array, line: PlainLine): boolean {
  return line.isNamed && line.timeStart >= 0 && !isBlank(bytes, line.idStart, line.idEnd)
}

function isOpen(line: PlainLine): boolean {
  return line.idStart < 0 && line.corrStart < 0 && line.seq < 0 && line.us < 0
}

/** Whether the entry tells all of the line, and all readers accept it. */
function isSound(bytes: Uint8Array, line: PlainLine): boolean {
  if (line.conversationStart >= 0 || line.late || line.unusual) return false
  if (line.redacted || line.http || line.sse || line.frameEnd) return false
  if (line.kind === 'notification') return line.rpcIdStart < 0
  if (line.rpcIdStart < 0) return false
  if (bytes[line.rpcIdStart] !== QUOTE && !isInteger(bytes, line.rpcIdStart, line.rpcIdEnd)) return false
  if (line.kind !== 'error') return true
  return line.messageStart >= 0 && line.codeStart >= 0 && isInteger(bytes, line.codeStart, line.codeEnd)
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] !== SPACE) return false
  return true
}

function isInteger(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (first >= end || end - first > longestNumber) return false
  for (let at = first; at < end; at += 1) if (bytes[at]! < ZERO || bytes[at]! > ZERO + 9) return false
  return true
}

/** `null` for a text that the line lacks, which starts before 0. */
function putText(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  return start < 0 ? copied(words.null, target, at) : copiedRange(bytes, start, end, target, at)
}

function copied(source: Uint8Array, target: Uint8Array, at: number): number {
  target.set(source, at)
  return at + source.length
}

function copiedRange(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  for (let i = start; i < end; i += 1) target[at + i - start] = source[i]!
  return at + end - start
}

/** Digits of a non-negative integer. */
function putDigits(value: number, target: Uint8Array, start: number): number {
  let end = start + 1
  for (let limit = 10; value >= limit; limit *= 10) end += 1
  let rest = value
  for (let at = end - 1; at >= start; at -= 1) {
    const next = Math.floor(rest / 10)
    target[at] = ZERO + rest - 10 * next
    rest = next
  }
  return end
}
