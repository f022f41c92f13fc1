import type { Draft, HttpPhases } from '../model/index.js'
import type { Breaker, HttpEvent, HttpHappening, UnheardMessage } from '../transports/index.js'
import type { RecordedHttpEvent } from './http-event.js'
import { KnownTexts } from './known-texts.js'
import { Marks } from './marks.js'
import { copyBytes, type RegionPool } from './region-pool.js'

/**
 * Packed events of HTTP exchanges, in order. Hundreds of small objects would otherwise stay alive until they are
 * handed over, and be copied one by one. Shared by two threads.
 */
export interface HttpBatch {
  /** Texts and bodies, one after the other. The phases of a response take the place of its body. */
  readonly region: Uint8Array
  /** For each event: index of its kind, exchange, us, wallMs, connection or status, text bytes, body bytes. */
  readonly marks: Float64Array
}

const markSize = 7
const kinds = [
  'request',
  'request-body',
  'request-end',
  'response',
  'response-body',
  'response-end',
  'failed',
  'unheard',
] as const
type Event = HttpEvent | UnheardMessage
type Happening<K extends HttpHappening['kind']> = Extract<HttpHappening, { kind: K }>
/** Stands for a missing exchange. */
const noExchange = -1
/** Stands for a missing status. */
const none = -1
/** Headers contain no line breaks. */
const separator = '\n'
/** Most UTF-8 bytes per UTF-16 code unit. */
const bytesPerCharacter = 3

/** Collects events into batches. Everything is copied at once. */
export class HttpBatchFiller {
  readonly #pool: RegionPool
  #region: Buffer | undefined
  #used = 0
  readonly #marks = new Marks()

  constructor(pool: RegionPool) {
    this.#pool = pool
  }

  get isEmpty(): boolean {
    return this.#marks.length === 0
  }

  /** Bytes of the current batch, including the marks of its events. */
  get sizeBytes(): number {
    return this.#used + this.#marks.length * Float64Array.BYTES_PER_ELEMENT
  }

  /** False when the batch must be taken before this event can be added. */
  fits(event: Event): boolean {
    return this.#region === undefined || this.#used + roomFor(event) <= this.#region.length
  }

  /** @param us microseconds since the session began */
  add(event: Event, us: number): void {
    const from = this.#used
    const text = eventData(event)
    if (text !== '') this.#used += this.#regionFor(event).write(text, this.#used, 'utf8')
    const textBytes = this.#used - from
    let bodyBytes = 0
    if ('bytes' in event) {
      bodyBytes = event.bytes.length
      copyBytes(event.bytes, this.#regionFor(event), this.#used)
      this.#used += bodyBytes
    } else if (event.kind === 'response' && event.phases) {
      bodyBytes = writePhases(event.phases, this.#regionFor(event), this.#used)
      this.#used += bodyBytes
    }
    const kind = kinds.indexOf(event.kind)
    const marks = this.#marks
    marks.push(kind)
    marks.push('exchange' in event ? event.exchange : noExchange)
    marks.push(us)
    marks.push(event.wallMs)
    marks.push(numberOf(event))
    marks.push(textBytes)
    marks.push(bodyBytes)
  }

  /** Returns all added events and begins a new batch. */
  take(): HttpBatch {
    const region = this.#region?.subarray(0, this.#used) ?? Buffer.alloc(0)
    const marks = this.#marks.copy()
    this.drop()
    return { region, marks }
  }

  /** Discards the current batch. */
  drop(): void {
    this.#region = undefined
    this.#used = 0
    this.#marks.drop()
  }

  #regionFor(event: Event): Buffer {
    return (this.#region ??= asBuffer(this.#pool.take(roomFor(event))))
  }
}

/** The events of a batch, with their own bytes: the batch memory may be reused. */
export function* eventsOf(batch: HttpBatch): Generator<RecordedHttpEvent> {
  const walk = new HttpBatchWalk(batch)
  while (walk.next()) yield walk.event(ownCopy)
}

/** Iterates over the events of a batch. Creates event objects only on request. */
export class HttpBatchWalk {
  readonly #marks: Float64Array
  readonly #bytes: Buffer
  #i = -markSize
  #textStart = 0
  #textEnd = 0
  #end = 0

  constructor({ region, marks }: HttpBatch) {
    this.#marks = marks
    this.#bytes = asBuffer(region)
  }

  /** Advances; false after the last event. */
  next(): boolean {
    this.#i += markSize
    if (this.#i >= this.#marks.length) return false
    this.#textStart = this.#end
    this.#textEnd = this.#textStart + this.#marks[this.#i + 5]!
    this.#end = this.#textEnd + this.#marks[this.#i + 6]!
    return true
  }

  get kind(): RecordedHttpEvent['kind'] {
    return kinds[this.#marks[this.#i]!]!
  }

  get exchange(): number {
    return this.#marks[this.#i + 1]!
  }

  /** A view of the event's part of a body. */
  get body(): Buffer {
    return this.#bytes.subarray(this.#textEnd, this.#end)
  }

  get place(): HttpEventPlace {
    return { marks: this.#marks, bytes: this.#bytes, i: this.#i, start: this.#textStart }
  }

  /** @param bytesOf turns the view of a body into the event's bytes */
  event(bytesOf: (view: Buffer) => Buffer): RecordedHttpEvent {
    return eventIn(this.place, bytesOf)
  }
}

/** The position of an event in a batch. */
export interface HttpEventPlace {
  readonly marks: Float64Array
  readonly bytes: Buffer
  readonly i: number
  readonly start: number
}

/** The event at a position. Valid only until the memory of its batch is reused. */
export function eventAt(place: HttpEventPlace): RecordedHttpEvent {
  return eventIn(place, ownCopy)
}

const nothing = Buffer.alloc(0)

function eventIn(
  { marks, bytes, i, start }: HttpEventPlace,
  bytesOf: (view: Buffer) => Buffer,
): RecordedHttpEvent {
  const textEnd = start + marks[i + 5]!
  const bodyBytes = marks[i + 6]!
  const body = bodyBytes === 0 ? nothing : bytesOf(bytes.subarray(textEnd, textEnd + bodyBytes))
  // Filled in place instead of spread, here and below, because there are thousands a second.
  const happening = happeningOf(kinds[marks[i]!]!, marks[i + 4]!, bytes, start, textEnd, body)
  const event = happening as Draft<Exclude<RecordedHttpEvent, { kind: 'unheard' }>>
  event.exchange = marks[i + 1]!
  event.us = marks[i + 2]!
  event.wallMs = marks[i + 3]!
  return event
}

/** The memory of a processed batch. */
export function regionsOf({ region }: HttpBatch): ArrayBufferLike[] {
  return region.length > 0 ? [region.buffer] : []
}

/** An upper bound of an event's bytes. */
function roomFor(event: Event): number {
  switch (event.kind) {
    case 'request-body':
    case 'response-body':
      return event.bytes.length
    case 'request':
      return lettersOf([event.method, event.path, event.origin ?? '', ...event.headers]) * bytesPerCharacter
    case 'response':
      return lettersOf(event.headers) * bytesPerCharacter + longestPhases
    case 'failed':
      return lettersOf([event.by, event.why]) * bytesPerCharacter
    case 'unheard':
      return lettersOf([event.session]) * bytesPerCharacter + event.bytes.length
    default:
      return 0
  }
}

/** Letters including separators. */
function lettersOf(words: readonly string[]): number {
  let letters = words.length
  for (const word of words) letters += word.length
  return letters
}

function eventData(event: Event): string {
  switch (event.kind) {
    case 'request': {
      const { method, path, origin = '', headers } = event
      return [method, path, origin, ...headers].join(separator)
    }
    case 'response':
      return event.headers.join(separator)
    case 'failed':
      return `${event.by}${separator}${event.why}`
    case 'unheard':
      return event.session
    default:
      return ''
  }
}

function numberOf(event: Event): number {
  if (event.kind === 'request') return event.connection
  return 'status' in event ? (event.status ?? none) : none
}

/** @param number connection or status @param start of the text in `bytes` */
function happeningOf(
  kind: HttpHappening['kind'] | 'unheard',
  number: number,
  bytes: Buffer,
  start: number,
  end: number,
  body: Buffer,
): HttpHappening | Pick<UnheardMessage, 'kind' | 'session' | 'bytes'> {
  switch (kind) {
    case 'request': {
      const { method, path, origin, headers } = requestHeads.of(bytes, start, end)
      const request: Draft<Happening<'request'>> = { kind, connection: number, method, path, headers }
      if (origin !== '') request.origin = origin
      return request
    }
    case 'response': {
      const headers = responseHeads.of(bytes, start, end)
      const response: Draft<Happening<'response'>> = { kind, status: number, headers }
      if (body.length > 0) response.phases = phasesIn(body)
      return response
    }
    case 'failed': {
      const text = bytes.toString('utf8', start, end)
      const byEnd = text.indexOf(separator)
      const by = text.slice(0, byEnd) as Breaker
      return { kind, by, why: text.slice(byEnd + 1), ...(number !== none && { status: number }) }
    }
    case 'request-body':
    case 'response-body':
      return { kind, bytes: body }
    case 'unheard':
      return { kind, session: bytes.toString('utf8', start, end), bytes: body }
    case 'request-end':
    case 'response-end':
      return { kind }
  }
}

/** Most exchanges reuse a connection, which takes one number. A new connection takes four. */
const doubleBytes = 8
const longestPhases = 4 * doubleBytes

function writePhases({ waitMs, dnsMs, connectMs, tlsMs }: HttpPhases, region: Buffer, start: number): number {
  region.writeDoubleLE(waitMs, start)
  if (connectMs === undefined) return doubleBytes
  region.writeDoubleLE(dnsMs ?? Number.NaN, start + doubleBytes)
  region.writeDoubleLE(connectMs, start + 2 * doubleBytes)
  region.writeDoubleLE(tlsMs ?? Number.NaN, start + 3 * doubleBytes)
  return longestPhases
}

function phasesIn(bytes: Buffer): HttpPhases {
  const waitMs = bytes.readDoubleLE(0)
  if (bytes.length < longestPhases) return { waitMs }
  const dnsMs = bytes.readDoubleLE(doubleBytes)
  const tlsMs = bytes.readDoubleLE(3 * doubleBytes)
  return {
    ...(!Number.isNaN(dnsMs) && { dnsMs }),
    connectMs: bytes.readDoubleLE(2 * doubleBytes),
    ...(!Number.isNaN(tlsMs) && { tlsMs }),
    waitMs,
  }
}

/** Clients and servers repeat their heads. Equal texts share one parsed object. */
const requestHeads = new KnownTexts((text) => {
  const [method = '', path = '', origin = '', ...headers] = text.split(separator)
  return { method, path, origin, headers }
})
const responseHeads = new KnownTexts<readonly string[]>((text) => (text === '' ? [] : text.split(separator)))

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafe(bytes.length)
  copyBytes(bytes, copy, 0)
  return copy
}
