import {
  noTime,
  opposite,
  WiretapeError,
  type Direction,
  type MetaRecord,
  type Report,
  type TapeRecord,
} from '../../model/index.js'
import {
  createJsonPieces,
  findJsonValue,
  isFault,
  kindAt,
  readEnvelope,
  type JsonPiece,
} from '../../wire/index.js'
import { isOfMcp, mostBefore } from '../foreign/before-server.js'
import { createDirections } from '../foreign/directions.js'
import { exchangeRecords, sentTo, type Timed } from '../foreign/exchange.js'
import { foreignEnd, foreignMessage, foreignMeta, isoTime } from '../foreign/records.js'
import { createTimeOrder, tellMisplaced } from '../foreign/time-order.js'
import { tellsMark } from '../byte-order-mark.js'
import type { Input } from '../format.js'
import {
  elementOf,
  logMessage,
  type InspectorElement,
  type NetworkEntry,
  type ProtocolEntry,
} from './element.js'

/**
 * An MCP Inspector export, or a list of JSON-RPC messages, as records in chronological order. A request and its
 * response share one entry there; here they are two messages.
 */
export async function* readInspector(
  input: Input,
  report: Report,
): AsyncGenerator<TapeRecord, void, undefined> {
  const reader = createReader(report)
  let hasList = false
  const pieces = createJsonPieces({
    ...tellsMark(report),
    opens: (path, kind) => {
      const isList = path.length === 0 || (path.length === 1 && path[0] === 'events')
      if (isList && kind === 'array') hasList = true
      return isList
    },
    skips: ([name]) => typeof name === 'string' && name !== 'events',
    resume: (path) => (path.length < 2 ? { element: 'id' } : undefined),
  })
  for await (const chunk of input.bytes()) for (const piece of pieces.push(chunk)) yield* reader.take(piece)
  for (const piece of pieces.end()) yield* reader.take(piece)
  if (!hasList) throw notUnderstood('it is neither an array nor an object with an "events" array')
  yield* reader.end()
}

function createReader(report: Report): {
  take(piece: JsonPiece): Generator<TapeRecord>
  end(): Generator<TapeRecord>
} {
  return new ExportReader(report)
}

class ExportReader {
  readonly #report: Report
  readonly #order = createTimeOrder()
  readonly #directionOf = createDirections()
  #started = false
  #before: {
    readonly records: readonly Timed[]
    readonly size: number
    readonly to: string | undefined
  }[] = []

  #sizeBefore = 0
  #hasNetwork = false
  #url: string | undefined
  /** URL of the first exchange, used when none is recognized as MCP. */
  #aside: string | undefined
  #entries = 0
  #understood = 0
  #exchange = 0
  #t = noTime
  #meta!: MetaRecord

  constructor(report: Report) {
    this.#report = report
  }

  *end() {
    if (this.#entries > 0 && this.#understood === 0) {
      throw notUnderstood()
    }
    if (!this.#started) yield* this.#begin()
    yield* this.#passOn(this.#order.until(Infinity))
    tellMisplaced(this.#order, this.#report)
    yield foreignEnd(this.#t, this.#meta)
  }

  #wrong(message: string, line: number): void {
    this.#report({ severity: 'error', code: 'bad-entry', message, at: { line } })
  }

  *take(piece: JsonPiece): Generator<TapeRecord> {
    if (piece.fault !== undefined) {
      this.#entries += 1
      return this.#wrong(`not valid JSON: ${piece.fault}`, piece.line)
    }
    const number = Number(piece.path.at(-1)) + 1
    if (Number.isNaN(number)) return
    this.#entries += 1
    const span = findJsonValue(piece.text)
    if (isFault(span)) return this.#wrong(`entry ${number}: not valid JSON: ${span.reason}`, piece.line)
    if (kindAt(piece.text, 0) !== 'object') return this.#wrong(`entry ${number}: not an object`, piece.line)
    const element = elementOf(piece.text)
    const records = this.#recordsOf(element)
    const [first] = records
    if (!first) return
    for (const { record } of records) {
      if (record.type !== 'note') continue
      const message = `entry ${number}: ${record.text}`
      this.#report({ severity: 'warning', code: 'client-error', message, at: { line: piece.line } })
    }
    if (element.kind !== 'message' || isMessage(first.record)) this.#understood += 1
    const size = piece.text.length
    const to = element.kind === 'network' ? element.entry.url : undefined
    if (this.#started) return yield* this.#place(records, size, to)
    this.#before.push({ records, size, to })
    this.#sizeBefore += size
    if (element.kind !== 'network') return yield* this.#begin()
    // Exchanges are usually in order of their end: the first one is known only after reading all.
    this.#hasNetwork = true
    // Exchanges of other protocols, usually OAuth, do not identify the server.
    if (isOfMcp(records)) this.#url ??= element.entry.url
    else this.#aside ??= element.entry.url
    if (this.#sizeBefore > mostBefore) yield* this.#begin()
  }

  *#begin(): Generator<TapeRecord> {
    this.#started = true
    const times = this.#before
      .flatMap(({ records }) => records.map(({ ms }) => ms))
      .filter((ms) => ms > -Infinity)
    this.#t = isoTime(times.reduce((first, ms) => Math.min(first, ms), Infinity)) ?? noTime
    const transport = this.#hasNetwork ? 'streamable-http' : 'stdio'
    this.#url ??= this.#aside
    this.#meta = foreignMeta({ startedAt: this.#t, transport, url: this.#url, label: 'inspector' })
    yield this.#meta
    for (const { records, size, to } of this.#before) yield* this.#place(records, size, to)
    this.#before = []
  }

  *#place(said: readonly Timed[], size: number, to: string | undefined): Generator<TapeRecord> {
    const records = said.map((timed) =>
      to === undefined ? timed : { ...timed, record: sentTo(timed.record, to, this.#url ?? '') },
    )
    const [first] = records
    if (first && !Number.isNaN(first.ms))
      yield* this.#passOn(this.#order.until(this.#hasNetwork ? -Infinity : first.ms))
    for (const [i, timed] of records.entries()) {
      if ((i === 0 && !this.#hasNetwork) || Number.isNaN(timed.ms)) yield* this.#passOn([timed.record])
      else this.#order.add(timed, size / records.length)
    }
  }

  *#passOn(records: Iterable<TapeRecord>): Generator<TapeRecord> {
    for (const record of records) {
      if (record.type !== 'unknown' && record.t !== undefined && record.t > this.#t) this.#t = record.t
      const isUntimed = (record.type === 'message' || record.type === 'note') && record.t === noTime
      if (!isUntimed || this.#t === noTime) yield record
      else
        yield record.type === 'message' ? { ...record, t: this.#t, untimed: true } : { ...record, t: this.#t }
    }
  }

  #recordsOf(element: InspectorElement): Timed[] {
    switch (element.kind) {
      case 'protocol':
        return protocolRecords(element.entry, this.#entries, this.#directionOf)
      case 'network':
        return networkRecords(element.entry, this.#exchange++)
      case 'log': {
        const ms = Date.parse(element.time ?? '')
        return [messageAt(ms, logMessage(element.params), 'server_to_client')]
      }
      case 'console': {
        const ms = Date.parse(element.time ?? '')
        return [{ ms, record: { type: 'stderr', t: isoTime(ms) ?? noTime, text: element.text } }]
      }
      case 'message':
        return [messageAt(Number.NaN, element.text, this.#directionOf(readEnvelope(element.text, 0)))]
    }
  }
}

function notUnderstood(why?: string): WiretapeError {
  const message = `no MCP message found${why === undefined ? '' : `: ${why}`}`
  return new WiretapeError('not-a-recording', message, { hint: 'Is it the right file?' })
}

function isMessage(record: TapeRecord): boolean {
  return (
    record.type === 'message' &&
    record.parts.some(({ envelope }) => envelope.kind !== 'invalid' || envelope.method !== undefined)
  )
}

function protocolRecords(
  { time, origin, message, response, durationMs, clientError }: ProtocolEntry,
  entry: number,
  directionOf: ReturnType<typeof createDirections>,
): Timed[] {
  const ms = Date.parse(time ?? '')
  const seen = directionOf(readEnvelope(message, 0))
  const direction = origin === 'client' ? 'client_to_server' : origin === 'server' ? 'server_to_client' : seen
  if (response === undefined) {
    const alone = messageAt(ms, message, direction)
    return clientError === undefined ? [alone] : [alone, errorNote(alone, clientError, false)]
  }
  const asked = messageAt(ms, message, direction, entry)
  directionOf(readEnvelope(response, 0))
  const answered = messageAt(ms + Math.max(0, durationMs), response, opposite(direction), entry)
  return clientError === undefined
    ? [asked, answered]
    : [asked, answered, errorNote(answered, clientError, true)]
}

/** A note about an error of the client, placed after the related message. */
function errorNote({ ms, record }: Timed, error: string, isAnswered: boolean): Timed {
  const t = record.type === 'unknown' ? undefined : record.t
  const what = isAnswered ? 'the client rejected this response' : 'the client had an error with this message'
  return { ms, record: { type: 'note', t: t ?? noTime, text: `${what}: ${error}` } }
}

function networkRecords(entry: NetworkEntry, number: number): Timed[] {
  const sentMs = Date.parse(entry.time ?? '')
  return exchangeRecords({
    number,
    method: entry.method,
    url: entry.url,
    requestHeaders: entry.requestHeaders,
    requestBody: entry.requestBody,
    status: entry.status,
    headers: entry.responseHeaders,
    body: entry.responseBody,
    sentMs,
    answeredMs: sentMs + Math.max(0, entry.durationMs),
    error: entry.error,
  }).map(streamedUntimed)
}

/** The Inspector's duration ends with the headers: the time of a stream's event is unknown. */
function streamedUntimed(timed: Timed): Timed {
  const { record } = timed
  return record.type === 'message' && record.sse ? { ...timed, record: { ...record, untimed: true } } : timed
}

function messageAt(ms: number, text: string, direction: Direction, entry?: number): Timed {
  const said = { t: isoTime(ms) ?? noTime, direction, ...(entry !== undefined && { entry }) }
  return { ms, record: foreignMessage(text, said) }
}
