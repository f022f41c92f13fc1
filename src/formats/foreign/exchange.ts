import {
  noTime,
  utf8Length,
  type Direction,
  type Envelope,
  type HttpRecord,
  type HttpHeaders,
  type SseContext,
  type TapeRecord,
} from '../../model/index.js'
import { readEnvelope } from '../../wire/index.js'
import { readBody } from './body.js'
import { originOf } from './origin.js'
import { foreignMessage, isoTime } from './records.js'
import { headerOf } from '../http-transcript/headers.js'

/** One HTTP exchange as exported by a browser or a tool. */
export interface ForeignExchange {
  /** 0-based number. */
  readonly number: number
  readonly method: string
  readonly url: string
  readonly requestHeaders: HttpHeaders
  readonly requestBody: string | undefined
  /** Absent without a response. */
  readonly status: number | undefined
  readonly headers: HttpHeaders
  readonly body: string | undefined
  /** Base64 of a body that is not text. */
  readonly bytes?: string | undefined
  /** Milliseconds since the epoch; NaN when unknown. */
  readonly sentMs: number
  readonly answeredMs: number
  /** End of its stream. */
  readonly endedMs?: number
  /** `Timed.place` of the request and of the response, where the file has them. */
  readonly asked?: number | undefined
  readonly answered?: number | undefined
  /** Events with their times, where the file has them. */
  readonly events?: readonly ForeignEvent[] | undefined
  readonly error?: string | undefined
}

export interface ForeignEvent {
  readonly ms: number
  readonly place?: number | undefined
  readonly sse: SseContext
  readonly data: string
}

/** A record and its time, in milliseconds since the epoch. */
export interface Timed {
  readonly ms: number
  /** Order among records of the same time: lower numbers come first. */
  readonly place?: number | undefined
  readonly record: TapeRecord
}

/** The records of an exchange, in chronological order. */
export function exchangeRecords(exchange: ForeignExchange): Timed[] {
  const records: Timed[] = []
  const { number, method, status, error, asked, answered } = exchange
  const path = pathOf(exchange.url)
  const request = readBody(exchange.requestBody, 'application/json')
  let headers: HttpHeaders | undefined = exchange.requestHeaders
  for (const { text } of request.messages) {
    const http = { exchange: number, method, path, ...(headers && headers.length > 0 && { headers }) }
    records.push({ ...messageAt(exchange.sentMs, text, 'client_to_server', { http }), place: asked })
    headers = undefined
  }
  const hasRequest = records.length > 0
  const about = { exchange: number, method, path }
  let ask: Partial<HttpRecord> = {
    ...(!hasRequest && exchange.requestHeaders.length > 0 && { requestHeaders: exchange.requestHeaders }),
    ...(!hasRequest && exchange.requestBody !== undefined && { requestBody: exchange.requestBody }),
  }
  let head: { status?: number; headers?: HttpHeaders } = {
    ...(status !== undefined && { status }),
    ...(exchange.headers.length > 0 && { headers: exchange.headers }),
  }
  const said = status === undefined ? {} : { status }
  const told = records.length
  function other(ms: number, place: number | undefined, more: Partial<HttpRecord>): void {
    const t = isoTime(ms) ?? noTime
    records.push({ ms, place, record: { type: 'http', t, ...about, ...ask, ...said, ...more } })
    ask = {}
  }

  const firstPlace = exchange.events?.[0]?.place
  if (answered !== undefined && firstPlace !== undefined && answered < firstPlace) {
    other(exchange.answeredMs, answered, head)
    head = said
  }
  for (const { ms, place, sse, data } of responseOf(exchange)) {
    const text = data.message
    if (text !== undefined) {
      const http = { exchange: number, ...said, ...head }
      records.push({ ...messageAt(ms, text, 'server_to_client', { http, ...(sse && { sse }) }), place })
    } else other(ms, place, { ...head, ...(sse && { sse }), body: data.text })
    head = said
  }
  // A request without further data needs no record of its own.
  if (error === undefined && (records.length > told || (hasRequest && status === undefined))) return records
  const { answeredMs, endedMs = answeredMs } = exchange
  // An exchange with a response was interrupted later.
  const brokeOff =
    records.length > told || (answered !== undefined && status !== undefined && endedMs > answeredMs)
  if (error !== undefined && brokeOff) {
    if (records.length === told) other(answeredMs, answered, head)
    other(endedMs, Number.MAX_SAFE_INTEGER, { why: error })
    return records
  }
  const { body, bytes } = exchange
  const sizeBytes = body !== undefined ? utf8Length(body) : Math.floor(((bytes?.length ?? 0) * 3) / 4)
  const rest = {
    ...head,
    ...(body !== undefined && { body }),
    ...(bytes !== undefined && { bytes }),
    ...(sizeBytes > 0 && { sizeBytes }),
  }
  const why = error !== undefined ? { why: error } : status === undefined ? { why: 'no response' } : {}
  other(answeredMs, answered, { ...rest, ...why })
  return records
}

interface Piece {
  readonly ms: number
  readonly place: number | undefined
  readonly sse?: SseContext
  readonly data: { readonly message?: string; readonly text: string }
}

function responseOf(exchange: ForeignExchange): Piece[] {
  const { events, body, headers, answeredMs: ms, endedMs = ms, answered: place } = exchange
  if (events && events.length > 0) {
    return events.map(({ ms: at, place: number, sse, data }) => {
      const [message] = readBody(data, 'application/json').messages
      const isMessage = ['', 'message'].includes(sse.event ?? '') && message !== undefined && !message.sse
      return { ms: at, place: number, sse, data: { text: data, ...(isMessage && { message: message.text }) } }
    })
  }
  const { pieces } = readBody(body, headerOf(headers, 'content-type'))
  // Only the end of a stream is known: its last response arrived then, not with the headers.
  const ending = pieces.at(-1)
  const isAnswer = ending?.sse && ending.isMessage && isAnswerKind(readEnvelope(ending.text, 0).kind)
  return pieces.map(({ sse, text, isMessage }, i) => ({
    ms: isAnswer && i === pieces.length - 1 ? endedMs : ms,
    place,
    ...(sse && { sse }),
    data: { text, ...(isMessage && { message: text }) },
  }))
}

function isAnswerKind(kind: Envelope['kind']): boolean {
  return kind === 'result' || kind === 'error'
}

function messageAt(
  ms: number,
  text: string,
  direction: Direction,
  more: Partial<Parameters<typeof foreignMessage>[1]>,
): Timed {
  return { ms, record: foreignMessage(text, { t: isoTime(ms) ?? noTime, direction, ...more }) }
}

/** Path with the query, as in a request line. */
function pathOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] || '/'
}

/** For requests to another origin than the server's, the path is the whole URL. */
export function sentTo(record: TapeRecord, url: string, serverUrl: string): TapeRecord {
  const origin = originOf(url)
  if (origin === '' || origin === originOf(serverUrl)) return record
  const path = url.replace(/#.*$/s, '')
  if (record.type === 'http') return { ...record, path }
  if (record.type !== 'message' || record.http?.path === undefined) return record
  return { ...record, http: { ...record.http, path } }
}
