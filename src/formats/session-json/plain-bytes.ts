import type { JsonPiecesOptions } from '../../wire/index.js'
import { bytesOf, matches, skipDigits, skipPlainText } from '../../wire/index.js'
import { PayloadScan } from './payload-bytes.js'

/** An entry in the form of wiretape and of the reference, without unusual data. */
export interface PlainBytes {
  /** The whole entry, its payload on one line. Offsets are characters of it. */
  readonly text: string
  /** Start and end of each value; for strings, of the text between the quotes. */
  readonly proxyId: readonly [number, number]
  readonly sequence: number
  readonly timestamp: readonly [number, number]
  readonly isFromClient: boolean
  /** JSON texts. */
  readonly jsonrpcId: readonly [number, number]
  readonly method: readonly [number, number]
  readonly correlatedId: readonly [number, number]
  readonly payload: readonly [number, number]
  /** Bytes of the payload. */
  readonly payloadBytes: number
}

/** Longer entries are read in pieces. */
const longest = 1 << 20
/** Digits of a number that is always exact. */
const mostDigits = 15
const QUOTE = 0x22
const ZERO = 0x30
const CLOSE_OBJECT = 0x7d

const names = {
  proxyId: bytesOf('{\n      "proxy_id": "'),
  sequence: bytesOf(',\n      "sequence": '),
  timestamp: bytesOf(',\n      "timestamp": "'),
  fromClient: bytesOf(',\n      "direction": "client_to_server'),
  fromServer: bytesOf(',\n      "direction": "server_to_client'),
  transport: bytesOf('",\n      "transport": "'),
  jsonrpcId: bytesOf('",\n      "jsonrpc_id": '),
  method: bytesOf(',\n      "method": '),
  correlatedId: bytesOf(',\n      "correlated_id": '),
  payload: bytesOf(',\n      "modified": false,\n      "payload": '),
  end: bytesOf('\n    }'),
}
/** Line feeds of an entry outside of its payload. */
const ownLines = 11
const nothing = bytesOf('null')
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

type Take = NonNullable<JsonPiecesOptions['take']>

/** Finds plain entries in bytes followed by a line feed. @param transport of the session */
export function createPlainBytes(transport: string): Take {
  const entries = new PlainEntries(transport)
  return (bytes, at, length, path) => entries.take(bytes, at, length, path)
}

class PlainEntries {
  readonly #transportBytes: Uint8Array
  readonly #scan = new PayloadScan()
  /** The last entry was incomplete: with more bytes it may be plain. */
  #isCut = false
  #end = 0

  constructor(transport: string) {
    this.#transportBytes = bytesOf(transport)
  }

  take(...[bytes, at, length, path]: Parameters<Take>): ReturnType<Take> {
    if (path.length !== 2 || path[0] !== 'messages') return undefined
    this.#isCut = true
    this.#end = length
    const found = this.#plain(bytes, at)
    if (found) return { end: found.end, lines: ownLines + this.#scan.lines, text: found.text, value: found }
    return this.#isCut && length - at < longest ? 'more' : undefined
  }

  #pass(bytes: Uint8Array, at: number, word: Uint8Array): number {
    if (at < 0) return -1
    if (matches(bytes, at, word)) return at + word.length
    // Different text, unless the bytes end here.
    this.#isCut = at + word.length > this.#end
    return -1
  }

  #text(bytes: Uint8Array, at: number): number {
    return at < 0 ? -1 : skipPlainText(bytes, at)
  }

  /** A string, or the word for a missing one; for ids also digits. */
  #value(bytes: Uint8Array, at: number, orDigits: boolean): number {
    if (at < 0) return -1
    if (bytes[at] === QUOTE) return skipPlainText(bytes, at + 1)
    if (!orDigits || bytes[at] === nothing[0]) return this.#pass(bytes, at, nothing)
    return this.#digits(bytes, at)
  }

  #digits(bytes: Uint8Array, at: number): number {
    const after = at < 0 ? -1 : skipDigits(bytes, at)
    const isExact = after - at === 1 || (after - at <= mostDigits && bytes[at] !== ZERO)
    return isExact ? after : -1
  }

  #plain(bytes: Uint8Array, start: number): (PlainBytes & { readonly end: number }) | undefined {
    const id = this.#pass(bytes, start, names.proxyId)
    const idEnd = this.#text(bytes, id)
    const sequence = this.#pass(bytes, idEnd, names.sequence)
    const sequenceEnd = this.#digits(bytes, sequence)
    const time = this.#pass(bytes, sequenceEnd, names.timestamp)
    const timeEnd = this.#text(bytes, time)
    if (timeEnd < 0) return undefined
    const isFromClient = matches(bytes, timeEnd, names.fromClient)
    const direction = this.#pass(bytes, timeEnd, isFromClient ? names.fromClient : names.fromServer)
    const transportAt = this.#pass(bytes, direction, names.transport)
    const jsonrpcId = this.#pass(bytes, this.#pass(bytes, transportAt, this.#transportBytes), names.jsonrpcId)
    const jsonrpcIdEnd = this.#value(bytes, jsonrpcId, true)
    const method = this.#pass(bytes, jsonrpcIdEnd, names.method)
    const methodEnd = this.#value(bytes, method, false)
    const correlatedId = this.#pass(bytes, methodEnd, names.correlatedId)
    const correlatedIdEnd = this.#value(bytes, correlatedId, false)
    const payload = this.#pass(bytes, correlatedIdEnd, names.payload)
    if (payload < 0 || bytes[id] === 0x20 || idEnd - id === 1) return undefined
    const payloadEnd = this.#scan.pass(bytes, start, payload, this.#end)
    const after = this.#pass(bytes, payloadEnd, names.end)
    if (after < 0 || after > this.#end) return undefined
    const { out, size } = this.#scan
    out[size] = CLOSE_OBJECT
    const whole = utf8.decode(out.subarray(0, size + 1))
    let number = 0
    for (let at = sequence; at < sequenceEnd; at += 1) number = number * 10 + bytes[at]! - ZERO
    return {
      text: whole,
      proxyId: [id - start, idEnd - start - 1],
      sequence: number,
      timestamp: [time - start, timeEnd - start - 1],
      isFromClient,
      jsonrpcId: [jsonrpcId - start, jsonrpcIdEnd - start],
      method: [method - start, methodEnd - start],
      correlatedId: [correlatedId - start, correlatedIdEnd - start],
      payload: [payload - start, whole.length - 1],
      payloadBytes: size - (payload - start),
      end: after,
    }
  }
}
