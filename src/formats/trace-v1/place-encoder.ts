import type { HttpContext, HttpHeaders, HttpPhases, SseContext } from '../../model/index.js'
import { bytesOf } from '../../wire/index.js'
import { encodeHttpHead } from './encode.js'
import { copied, lineEnd, writeCount } from './message-line.js'

/** The place of a message in HTTP, as in its record. */
export interface MessagePlace {
  readonly conversation: string
  readonly http: HttpContext
  readonly sse: SseContext | undefined
}

/** Maximum number of bytes that `PlaceEncoder.write` needs. */
export const mostPlaceBytes = 16 * 1024
/** Maximum number of bytes of each part that repeats. Longer ones are not kept: peers choose their length. */
const mostRepeated = 4 * 1024
const mostKept = 128
/** Milliseconds are written by hand below this one. */
const mostMs = 2 ** 40

const words = {
  exchange: bytesOf(',"http":{"exchange":'),
  phases: bytesOf(',"phases":{"waitMs":'),
  close: bytesOf('}'),
}
const nothing = new Uint8Array(0)
const DOT = 0x2e
const ZERO = 0x30

interface Head {
  readonly http: HttpContext
  readonly bytes: Uint8Array
}

/** Writes the places of plain messages. Most of a place repeats, so no text is made. Same output as `encodeRecord`. */
export class PlaceEncoder {
  #conversation: string | undefined
  #conversationBytes: Uint8Array = nothing
  /** By the list of headers: recorders use one list for equal heads. */
  readonly #heads = new Map<HttpHeaders | undefined, Head>()
  readonly #events = new Map<SseContext, Uint8Array>()

  /** The members after `us`, and the end of the line. Returns the index after it, or -1 for an unusual place. */
  write({ conversation, http, sse }: MessagePlace, target: Uint8Array, start: number): number {
    const { exchange, phases } = http
    if (phases && !isShort(phases)) return -1
    const name = this.#nameOf(conversation)
    const head = this.#headOf(http)
    const event = sse ? this.#eventOf(sse) : nothing
    if (Math.max(name.length, head.length, event.length) > mostRepeated) return -1
    target.set(name, start)
    let at = writeCount(exchange, target, copied(words.exchange, target, start + name.length))
    target.set(head, at)
    at += head.length
    if (phases) {
      at = writeMs(phases.waitMs, target, copied(words.phases, target, at))
      at = copied(words.close, target, at)
    }
    at = copied(words.close, target, at)
    return copied(lineEnd, target, copied(event, target, at))
  }

  #nameOf(conversation: string): Uint8Array {
    if (conversation === this.#conversation) return this.#conversationBytes
    this.#conversation = conversation
    return (this.#conversationBytes = encoded(`,"conv":${JSON.stringify(conversation)}`))
  }

  #headOf(http: HttpContext): Uint8Array {
    const known = this.#heads.get(http.headers)
    if (known && isSameHead(known.http, http)) return known.bytes
    const bytes = encoded(encodeHttpHead(http))
    if (bytes.length > mostRepeated) return bytes
    if (this.#heads.size >= mostKept) this.#heads.clear()
    this.#heads.set(http.headers, { http, bytes })
    return bytes
  }

  #eventOf(sse: SseContext): Uint8Array {
    const known = this.#events.get(sse)
    if (known) return known
    const bytes = encoded(`,"sse":${JSON.stringify(sse)}`)
    if (bytes.length > mostRepeated) return bytes
    if (this.#events.size >= mostKept) this.#events.clear()
    this.#events.set(sse, bytes)
    return bytes
  }
}

const encoder = new TextEncoder()

function encoded(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Whether the exchange used an open connection, so that its phases are one number. */
function isShort({ dnsMs, connectMs, tlsMs, waitMs }: HttpPhases): boolean {
  return (dnsMs ?? connectMs ?? tlsMs) === undefined && waitMs >= 0 && waitMs < mostMs
}

function isSameHead(one: HttpContext, other: HttpContext): boolean {
  return one.path === other.path && one.status === other.status && one.method === other.method
}

/** Milliseconds with three decimals at most, as `JSON.stringify` writes them. */
function writeMs(ms: number, target: Uint8Array, start: number): number {
  const thousandths = Math.round(ms * 1000)
  const whole = Math.floor(thousandths / 1000)
  let at = writeCount(whole, target, start)
  let rest = thousandths - whole * 1000
  if (rest === 0) return at
  target[at++] = DOT
  for (let unit = 100; rest > 0; unit /= 10) {
    const digit = Math.floor(rest / unit)
    target[at++] = ZERO + digit
    rest -= digit * unit
  }
  return at
}
