import {
  noTime,
  WiretapeError,
  type HttpHeaders,
  type Report,
  type SseContext,
  type TapeRecord,
} from '../../model/index.js'
import {
  createJsonPieces,
  decodeString,
  findJsonValue,
  idKey,
  isFault,
  jsonIn,
  JsonObject,
  kindAt,
  type JsonPiece,
} from '../../wire/index.js'
import { foreignEnd, foreignMessage, foreignMeta, isoTime } from '../foreign/records.js'
import { tellsMark } from '../byte-order-mark.js'
import type { Input } from '../format.js'
import { isMessageEvent, type TranscriptTransport } from './entry.js'

/** Data of a transcript as a whole. */
interface Head {
  readonly transport: string | undefined
  readonly startedAt: string | undefined
  readonly headers: HttpHeaders
  readonly hasEntries: boolean
}

/**
 * A transcript as records. An invalid entry costs only itself. The HTTP exchange of a message is inferred from the
 * ids.
 */
export async function* readTranscript(
  transport: TranscriptTransport,
  input: Input,
  report: Report,
): AsyncGenerator<TapeRecord, void, undefined> {
  const head = await headOf(input)
  let faults = 0
  let understood = 0
  const wrong = (message: string, line?: number): void => {
    faults += 1
    report({ severity: 'error', code: 'bad-entry', message, ...(line !== undefined && { at: { line } }) })
  }
  if (head.transport !== transport) {
    wrong(
      `"transport" is ${JSON.stringify(head.transport?.slice(0, 40) ?? null)}, not ${JSON.stringify(transport)}`,
    )
  }
  let t = head.startedAt ?? noTime
  const meta = foreignMeta({
    startedAt: t,
    transport: transport === 'http-sse' ? 'sse' : transport,
    label: transport,
  })
  yield meta
  const exchanges = createExchanges()
  let sessionHeaders = head.headers
  if (!head.hasEntries) report({ severity: 'warning', code: 'no-entries', message: 'it has no "entries"' })
  for await (const piece of entriesOf(input, report)) {
    if (piece.fault !== undefined) {
      wrong(`not valid JSON: ${piece.fault}`, piece.line)
      continue
    }
    const [name, number] = piece.path
    if (name === 'entries' && number === undefined) wrong('"entries" is not an array', piece.line)
    if (name !== 'entries' || typeof number !== 'number') continue
    const entry = entryOf(piece.text)
    if (typeof entry === 'string') {
      wrong(`entry ${number + 1}: ${entry}`, piece.line)
      continue
    }
    const own = isoTime(entry.timestampMs)
    t = own ?? t
    const record = recordOf(entry, t, exchanges, sessionHeaders)
    if (entry.slot === 'request') sessionHeaders = []
    understood += 1
    const isUntimed = own === undefined && t !== noTime && record.type === 'message'
    yield isUntimed ? { ...record, untimed: true } : record
  }
  if (faults > 0 && understood === 0) {
    throw new WiretapeError('not-a-recording', 'no MCP message found', {
      hint: 'Is it the right file?',
    })
  }
  yield foreignEnd(t, meta)
}

async function* entriesOf(input: Input, report: Report): AsyncGenerator<JsonPiece, void, undefined> {
  const pieces = createJsonPieces({
    ...tellsMark(report),
    opens: (path, kind) =>
      path.length === 0 || (path.length === 1 && path[0] === 'entries' && kind === 'array'),
    skips: ([name]) => name !== 'entries',
    resume: (path) => (path.length === 1 ? { element: 'timestamp_ms' } : undefined),
  })
  for await (const chunk of input.bytes()) yield* pieces.push(chunk)
  yield* pieces.end()
}

/** Usually all of it precedes the entries; then only the first entry is read in addition. */
async function headOf(input: Input): Promise<Head> {
  const seen = new Map<string, string>()
  let startedAt: string | undefined
  let entries = 0
  let hasEntries = false
  const pieces = createJsonPieces({
    opens: (path, kind) => {
      if (path.length === 0) return true
      const isList = path.length === 1 && path[0] === 'entries' && kind === 'array'
      if (isList) hasEntries = true
      return isList
    },
  })
  function take(piece: JsonPiece): void {
    const [name, number] = piece.path
    if (piece.fault !== undefined) return
    if (typeof name === 'string' && number === undefined) seen.set(name, piece.text)
    if (name !== 'entries' || number === undefined) return
    entries += 1
    if (startedAt !== undefined) return
    const entry = entryOf(piece.text)
    if (typeof entry !== 'string') startedAt = isoTime(entry.timestampMs)
  }
  for await (const chunk of input.bytes()) {
    for (const piece of pieces.push(chunk)) take(piece)
    if (entries > 0 && seen.has('transport') && (startedAt !== undefined || entries > 100)) break
  }
  for (const piece of pieces.end()) take(piece)
  const transport = seen.get('transport')
  const isName = transport?.startsWith('"') === true && jsonIn(transport) !== undefined
  return {
    transport: isName ? decodeString(transport, 0, transport.length) : undefined,
    startedAt,
    // A value other than an array is reported when it is read.
    hasEntries: hasEntries || seen.has('entries'),
    headers: [
      ...headersIn(objectOf(seen.get('transport_context'))),
      ...headersOf(objectOf(seen.get('headers'))),
    ],
  }
}

interface Entry {
  readonly timestampMs: number | undefined
  readonly slot: 'request' | 'response' | 'sse'
  readonly value: string
  readonly status: number | undefined
  readonly headers: HttpHeaders
}

/** An entry, or the reason why the text is none. */
function entryOf(text: string): Entry | string {
  const span = findJsonValue(text)
  if (isFault(span)) return `not valid JSON: ${span.reason}`
  if (kindAt(text, 0) !== 'object') return 'not an object'
  const object = new JsonObject(text, 0)
  const slots = (['request', 'response', 'sse'] as const).filter(
    (name) => (object.raw(name) ?? 'null') !== 'null',
  )
  const [slot] = slots
  if (slot === undefined || slots.length > 1)
    return 'it must contain exactly one of request, response, or sse'
  const context = object.object('transport_context')
  const own = object.object('headers')
  const timestampMs = object.number('timestamp_ms')
  return {
    timestampMs: timestampMs !== undefined && timestampMs >= 0 ? timestampMs : undefined,
    slot,
    value: object.raw(slot)!,
    status: context?.number('status') ?? numberIn(context?.string('status')) ?? own?.number('status'),
    headers: [...headersIn(context), ...headersOf(own)],
  }
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{3}$/.test(text) ? Number(text) : undefined
}

function objectOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined || kindAt(text, 0) !== 'object' || jsonIn(text) === undefined) return undefined
  return new JsonObject(text, 0)
}

function headersIn(context: JsonObject | undefined): HttpHeaders {
  return headersOf(context?.object('headers'))
}

function headersOf(headers: JsonObject | undefined): HttpHeaders {
  return (headers?.others() ?? []).flatMap(([name, value]) =>
    value.startsWith('"') && name !== 'status' ? [[name, decodeString(value, 0, value.length)] as const] : [],
  )
}

/**
 * Numbers exchanges: each request has its own, a response that of its request, anything else the last. A response to
 * one of two open requests has its own number: its request is unknown.
 */
interface Exchanges {
  ofRequest(id: string | undefined): number
  ofAnswer(id: string | undefined): number
}

function createExchanges(): Exchanges {
  const open = new Map<string, { readonly exchange: number; requests: number; isAmbiguous: boolean }>()
  let last = -1
  return {
    ofRequest(id) {
      last += 1
      const key = id === undefined ? undefined : idKey(id)
      const before = key === undefined ? undefined : open.get(key)
      if (before) {
        before.requests += 1
        before.isAmbiguous = true
      } else if (key !== undefined) open.set(key, { exchange: last, requests: 1, isAmbiguous: false })
      return last
    },
    ofAnswer(id) {
      const key = id === undefined ? undefined : idKey(id)
      const request = key === undefined ? undefined : open.get(key)
      if (!request) return Math.max(0, last)
      request.requests -= 1
      if (request.requests === 0) open.delete(key!)
      if (!request.isAmbiguous) return request.exchange
      last += 1
      return last
    },
  }
}

function recordOf(entry: Entry, t: string, exchanges: Exchanges, sessionHeaders: HttpHeaders): TapeRecord {
  const { slot, value, status } = entry
  if (slot === 'sse') return eventRecord(entry, t, exchanges)
  const kind = kindAt(value, 0)
  const isRequest = slot === 'request'
  const names = new Set(entry.headers.map(([name]) => name.toLowerCase()))
  const inherited = isRequest ? sessionHeaders.filter(([name]) => !names.has(name.toLowerCase())) : []
  const headers = [...inherited, ...entry.headers]
  const around = {
    ...(status !== undefined && !isRequest && { status }),
    ...(headers.length > 0 && { headers }),
  }
  const direction = isRequest ? 'client_to_server' : 'server_to_client'
  const message = kind === 'object' || kind === 'array' ? foreignMessage(value, { t, direction }) : undefined
  const envelope = message?.parts[0]?.envelope
  if (!message || (!isRequest && message.parts.every((part) => part.envelope.kind === 'invalid'))) {
    const exchange = exchanges.ofAnswer(undefined)
    const body = kind === 'string' ? decodeString(value, 0, value.length) : value
    return { type: 'http', t, exchange, method: 'POST', path: '', ...around, body }
  }
  const id = envelope?.id
  const isAsked = isRequest && envelope?.kind === 'request'
  const isAnswering = envelope?.kind === 'result' || envelope?.kind === 'error'
  const exchange = isRequest
    ? exchanges.ofRequest(isAsked ? id : undefined)
    : exchanges.ofAnswer(isAnswering ? id : undefined)
  return { ...message, http: { exchange, ...(isRequest && { method: 'POST' }), ...around } }
}

function eventRecord({ value, status, headers }: Entry, t: string, exchanges: Exchanges): TapeRecord {
  const event = kindAt(value, 0) === 'object' ? new JsonObject(value, 0) : undefined
  const sse: SseContext = {
    ...(event?.string('event') !== undefined && { event: event.string('event')! }),
    ...(event?.string('id') !== undefined && { id: event.string('id')! }),
    ...(event?.number('retry') !== undefined && { retry: event.number('retry')! }),
  }
  const around = { ...(status !== undefined && { status }), ...(headers.length > 0 && { headers }) }
  let data = event?.raw('data') ?? '""'
  let text = data
  while (kindAt(data, 0) === 'string') {
    text = decodeString(data, 0, data.length)
    const span = jsonIn(text)
    if (!span) break
    data = text.slice(span.start, span.end)
  }
  const kind = kindAt(data, 0)
  if (isMessageEvent(sse) && (kind === 'object' || kind === 'array')) {
    const message = foreignMessage(data, { t, direction: 'server_to_client', sse })
    const envelope = message.parts[0]?.envelope
    const id = envelope?.kind === 'result' || envelope?.kind === 'error' ? envelope.id : undefined
    return { ...message, http: { exchange: exchanges.ofAnswer(id), ...around } }
  }
  return {
    type: 'http',
    t,
    exchange: exchanges.ofAnswer(undefined),
    method: 'GET',
    path: '',
    ...around,
    sse,
    body: text,
  }
}
