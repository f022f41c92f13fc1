import { noTime, WiretapeError, type HttpHeaders, type Report, type TapeRecord } from '../../model/index.js'
import {
  createJsonPieces,
  findJsonValue,
  isFault,
  JsonObject,
  kindAt,
  type JsonPiece,
} from '../../wire/index.js'
import { isOfMcp, mostBefore } from '../foreign/before-server.js'
import { exchangeRecords, sentTo, type ForeignEvent, type Timed } from '../foreign/exchange.js'
import { foreignEnd, foreignMeta, isoTime } from '../foreign/records.js'
import { createTimeOrder, tellMisplaced } from '../foreign/time-order.js'
import { tellsMark } from '../byte-order-mark.js'
import type { Input } from '../format.js'
import { parseMicros } from '../session-json/time.js'
import { fromBase64 } from './base64.js'
import { stdioHost } from './names.js'
import { createTalks } from './talks.js'

/**
 * The exchanges of an archive as records, in chronological order. Exchanges without JSON-RPC become HTTP
 * exchanges; pages, images and the like are skipped.
 */
export function readHar(input: Input, report: Report): AsyncGenerator<TapeRecord, void, undefined> {
  return new HarReader(report).read(input)
}

class HarReader {
  readonly #report: Report
  readonly #order = createTimeOrder()
  readonly #talkOf = createTalks()
  #startMicros: number | undefined
  /** The first exchange that certainly belongs to MCP. */
  #server: Exchange | undefined
  /** Exchanges before `server`, usually OAuth. They do not identify the server. */
  #before: { readonly exchange: Exchange; readonly records: Timed[]; readonly size: number }[] = []
  #sizeBefore = 0
  #entries = 0
  #hasLog = false
  #number = 0
  #others = 0
  #serverUrl = ''
  #t: string = noTime
  #meta = foreignMeta({ startedAt: this.#t, transport: 'streamable-http', label: 'har' })

  constructor(report: Report) {
    this.#report = report
  }

  async *read(input: Input): AsyncGenerator<TapeRecord, void, undefined> {
    const pieces = createJsonPieces({
      ...tellsMark(this.#report),
      opens: (path, kind) =>
        path.length === 0 ||
        (path.length === 1 && path[0] === 'log' && kind === 'object' && (this.#hasLog = true)) ||
        (path.length === 2 && path[0] === 'log' && path[1] === 'entries' && kind === 'array'),
      resume: (path) => (path.length === 2 ? { element: 'startedDateTime' } : undefined),
    })
    for await (const chunk of input.bytes()) for (const piece of pieces.push(chunk)) yield* this.#take(piece)
    for (const piece of pieces.end()) yield* this.#take(piece)
    if (!this.#hasLog)
      throw new WiretapeError('not-a-recording', 'it has no "log"', { hint: 'Is it the right file?' })
    if (this.#startMicros === undefined && this.#before.length > 0) yield* this.#begin()
    if (this.#startMicros === undefined && this.#entries > 0) {
      const message =
        this.#entries === 1
          ? 'its only HTTP exchange is not MCP'
          : `none of its ${this.#entries} HTTP exchanges is MCP`
      throw new WiretapeError('not-a-recording', message, { hint: 'Was the wrong browser tab recorded?' })
    }
    if (this.#startMicros === undefined) yield this.#meta
    yield* this.#passOn(this.#order.until(Infinity))
    tellMisplaced(this.#order, this.#report)
    if (this.#others > 0) {
      const message = `HTTP exchanges that are not MCP are skipped: ${this.#others}`
      this.#report({ severity: 'warning', code: 'passed-over', message })
    }
    yield foreignEnd(this.#t, this.#meta)
  }

  #wrong(message: string, line: number): void {
    this.#report({ severity: 'error', code: 'bad-entry', message, at: { line } })
  }

  *#passOn(records: Iterable<TapeRecord>): Generator<TapeRecord> {
    for (const record of records) {
      if (record.type !== 'unknown' && record.t !== undefined && record.t > this.#t) this.#t = record.t
      yield record
    }
  }

  *#take(piece: JsonPiece): Generator<TapeRecord> {
    if (piece.fault !== undefined) return this.#wrong(`not valid JSON: ${piece.fault}`, piece.line)
    const [log, list, index] = piece.path
    if (log !== 'log') return
    this.#hasLog = true
    if (list !== 'entries' || typeof index !== 'number') return
    this.#entries += 1
    const span = findJsonValue(piece.text)
    const isObject = !isFault(span) && kindAt(piece.text, span.start) === 'object'
    const read = isObject ? entryOf(new JsonObject(piece.text, 0)) : undefined
    if (!read) return this.#wrong(`entry ${index + 1}: not an HTTP request and response`, piece.line)
    const records = exchangeRecords({ ...read, number: this.#number })
    const isMcp = isOfMcp(records)
    const isOurs = read.asked !== undefined || read.answered !== undefined
    const entry = isMcp && !isOurs ? { ...read, conversation: read.conversation ?? this.#talkOf(read) } : read
    if (!isMcp && !isOurs && !isAboutMcp(entry.url, entry.mimeType)) {
      this.#others += 1
      return
    }
    this.#number += 1
    const size = piece.text.length
    if (this.#startMicros !== undefined) return yield* this.#place(entry, records, size)
    this.#before.push({ exchange: entry, records, size })
    this.#sizeBefore += size
    if (isMcp) this.#server ??= entry
    if ((this.#server && isTime(entry.sentMs)) || this.#sizeBefore > mostBefore) yield* this.#begin()
  }

  *#begin(): Generator<TapeRecord> {
    const sent = this.#before.map(({ exchange }) => exchange.sentMs)
    this.#t = isoTime(sent.find(isTime)) ?? noTime
    this.#startMicros = Date.parse(this.#t) * 1000
    const named = (this.#server ?? this.#before[0]!.exchange).url
    const isStdio = named.startsWith(stdioHost)
    const url = isStdio ? undefined : named.replace(/[?#].*$/s, '')
    const label = isStdio ? decodeURIComponentSafely(named.slice(stdioHost.length)) : undefined
    const transport = isStdio ? 'stdio' : 'streamable-http'
    this.#meta = foreignMeta({ startedAt: this.#t, transport, url, ...(label !== undefined && { label }) })
    yield this.#meta
    this.#serverUrl = named
    for (const { exchange, records, size } of this.#before) yield* this.#place(exchange, records, size)
    this.#before = []
  }

  *#place(exchange: Exchange, records: readonly Timed[], size: number): Generator<TapeRecord> {
    const { sentMs, asked, answered, events, conversation } = exchange
    const isStdio = exchange.url.startsWith(stdioHost)
    const start = this.#startMicros ?? 0
    const first = asked ?? events?.[0]?.place ?? answered ?? -1
    if (isTime(sentMs)) yield* this.#passOn(this.#order.until(sentMs, first))
    for (const timed of records) {
      const plain = isStdio ? withoutHttp(timed.record) : sentTo(timed.record, exchange.url, this.#serverUrl)
      if (!plain) continue
      const known = isTime(timed.ms)
      // The year 1970 stands for unknown times.
      const us = start === 0 || !known ? Number.NaN : Math.round(timed.ms * 1000) - start
      const said = { ...plain, ...(us >= 0 && { us }), ...(conversation !== undefined && { conversation }) }
      const record = known || start === 0 ? said : untimed(said, isoTime(sentMs) ?? this.#t)
      // Records without a place in time order keep their position in the archive.
      if (!isTime(sentMs) && timed.place === undefined) yield* this.#passOn([record])
      // Records are slices of the entry's text and keep it in memory together.
      else this.#order.add({ ...timed, ms: known ? timed.ms : sentMs, record }, size / records.length)
    }
  }
}

type Exchange = Omit<Parameters<typeof exchangeRecords>[0], 'number'> & {
  readonly mimeType: string
  readonly conversation: string | undefined
}

function entryOf(entry: JsonObject): Exchange | undefined {
  const request = entry.object('request')
  const response = entry.object('response')
  const method = request?.string('method')
  const url = request?.string('url')
  if (!request || method === undefined || url === undefined) return undefined
  const sentMs = (parseMicros(entry.string('startedDateTime') ?? '') ?? Number.NaN) / 1000
  const content = response?.object('content')
  const status = response?.number('status')
  const timings = entry.object('timings')
  const headerMs =
    entry.number('_answeredMs') ??
    spent(timings?.number('wait')) + spent(timings?.number('send')) + spent(timings?.number('blocked'))
  const isBinary = content?.string('encoding') === 'base64'
  const decoded = isBinary ? fromBase64(content?.string('text') ?? '') : undefined
  const text = isBinary ? decoded : content?.string('text')
  const mimeType = content?.string('mimeType') ?? ''
  const events = eventsOf(entry)
  const [asked, answered] = placesOf(entry)
  const isOurs = asked !== undefined || answered !== undefined
  const headers = headersOf(response)
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type')
  return {
    method,
    url,
    requestHeaders: headersOf(request),
    requestBody: request.object('postData')?.string('text'),
    status: status === undefined || status === 0 ? undefined : status,
    headers: hasType || mimeType === '' ? headers : [...headers, ['content-type', mimeType]],
    body: text === undefined && !isBinary ? undefined : text,
    ...(isBinary && decoded === undefined && { bytes: content?.string('text') }),
    sentMs,
    answeredMs: toMicro(sentMs + (isOurs || headerMs > 0 ? headerMs : spent(entry.number('time')))),
    endedMs: toMicro(sentMs + (entry.number('_endedMs') ?? spent(entry.number('time')))),
    ...(events && { events }),
    error: response?.string('_error'),
    mimeType,
    asked,
    answered,
    conversation: entry.string('_conversation'),
  }
}

function isTime(ms: number): boolean {
  return isoTime(ms) !== undefined
}

/** A record without a known time. */
function untimed(record: TapeRecord, t: string): TapeRecord {
  if (record.type === 'unknown' || record.type === 'meta') return record
  return record.type === 'message' ? { ...record, t, untimed: true } : { ...record, t }
}

/** The positions of a request and its response in an archive written by wiretape. */
function placesOf(entry: JsonObject): (number | undefined)[] {
  const places = /^\s*\[\s*(\d{1,15}|null)\s*,\s*(\d{1,15}|null)\s*\]\s*$/.exec(entry.raw('_order') ?? '')
  return (places?.slice(1) ?? []).map((place) => (place === 'null' ? undefined : Number(place)))
}

/** Rounds, so that equal times are equal numbers despite floating-point sums. */
function toMicro(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** -1 stands for an inapplicable time. */
function spent(ms: number | undefined): number {
  return ms !== undefined && ms > 0 ? ms : 0
}

function eventsOf(entry: JsonObject): ForeignEvent[] | undefined {
  const events = entry.objects('_eventSourceMessages')
  if (events.length === 0) return undefined
  return events.flatMap((event) => {
    const data = event?.string('data')
    if (!event || data === undefined) return []
    const name = event.raw('_unnamed') === 'true' ? undefined : event.string('eventName')
    const id = event.string('eventId')
    const retry = event.number('_retry')
    const sse = {
      ...(name !== undefined && name !== '' && { event: name }),
      ...(id !== undefined && id !== '' && { id }),
      ...(retry !== undefined && { retry }),
    }
    const ms = toMicro((event.number('time') ?? Number.NaN) * 1000)
    return [{ ms, place: event.number('_order'), sse, data }]
  })
}

function headersOf(message: JsonObject | undefined): HttpHeaders {
  return (message?.objects('headers') ?? []).flatMap((header) => {
    const name = header?.string('name')
    const value = header?.string('value')
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
}

/** Whether an exchange is OAuth, its discovery, or a response of an MCP server without JSON-RPC. */
function isAboutMcp(url: string, mimeType: string): boolean {
  return (
    /\/(?:\.well-known\/oauth|mcp(?:[/?#]|$)|sse(?:[/?#]|$)|messages?(?:[/?#]|$))/.test(url) ||
    mimeType.startsWith('text/event-stream')
  )
}

/** Drops the HTTP data of stdio messages, which was made up on writing. */
function withoutHttp(record: TapeRecord): TapeRecord | undefined {
  if (record.type !== 'message') return undefined
  const { http, sse: _sse, ...rest } = record
  return { ...rest, ...(http && { entry: http.exchange }) }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
