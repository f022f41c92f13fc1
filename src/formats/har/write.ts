import {
  createOrigins,
  type HttpPhases,
  type HttpRecord,
  type MessageRecord,
  type MetaRecord,
  type Origin,
  type Report,
  type TapeRecord,
} from '../../model/index.js'
import { adopt } from '../adopt.js'
import { readBody } from '../foreign/body.js'
import type { Recording } from '../format.js'
import { createLosses, type Losses } from '../losses.js'
import { parseMicros } from '../session-json/time.js'
import { textChunks } from '../text-chunks.js'
import { metaOf } from '../told/told.js'
import { entryText, valueOf, type EntryDraft } from './entry.js'
import { stdioHost } from './names.js'

/** Characters of entries that may wait for the end of an earlier one. */
const mostWaiting = 48 * 1024 * 1024

/** Position of a record: its exchange, and whether it is the last record of that. */
interface ExchangePlace {
  readonly key: number
  readonly isLast: boolean
}

/** Time of a record, and its position among the written records. */
interface RecordTime {
  readonly ms: number
  readonly place: number
}

/**
 * A recording as an HTTP archive, its exchanges in order of their start. Stdio messages have no HTTP: each request and
 * its response become an exchange with a made-up URL.
 */
export function writeHar(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  return textChunks(textOf(adopt(recording, { links: false }), report), recording)
}

async function* textOf(recording: Recording, report: Report): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  const meta = await metaOf(recording)
  const placeOf = await findPlaces(recording)
  const started = (parseMicros(meta?.startedAt ?? '') ?? Number.NaN) / 1000
  const { transport = 'stdio', url = null, metadata = [] } = meta?.wiretape ?? {}
  const originOf = createOrigins({ transport, url, metadata, label: meta?.label ?? '' })
  const waiting = new Map<number, { draft: EntryDraft; done: boolean }>()
  let size = 0
  let index = 0
  let place = 0
  let lastMs = -Infinity
  let separator = '\n'
  yield '{"log":{"version":"1.2","creator":{"name":"wiretape","version":"1"},"pages":[],"entries":['

  function* flush(all: boolean): Generator<string> {
    for (const [key, { draft, done }] of waiting) {
      if (!done && !all && size <= mostWaiting) return
      waiting.delete(key)
      size -= draft.size
      yield `${separator}${entryText(draft)}`
      separator = ',\n'
    }
  }

  for await (const record of recording.records()) {
    const at = index
    index += 1
    if (record.type !== 'message' && record.type !== 'http') {
      losses.record(record)
      continue
    }
    noteLosses(record, losses, meta)
    const said =
      record.us === undefined || Number.isNaN(started) ? Date.parse(record.t) : started + record.us / 1000
    const ms = Number.isFinite(said) ? said : Math.max(lastMs, 0)
    if (ms !== said) losses.add('invalid times are replaced by the time of the previous message')
    if (ms < lastMs) losses.add('messages with an earlier time than the previous message are moved')
    lastMs = ms
    const { key, isLast } = placeOf(at)
    const origin = originOf(record.conversation)
    if (!waiting.has(key)) noteUrl(record, origin, losses)
    const open = waiting.get(key) ?? { draft: draftOf(record, ms, origin), done: false }
    const before = open.draft.size
    put(record, { ms, place }, open.draft)
    place += 1
    size += open.draft.size - before
    open.done = isLast
    waiting.set(key, open)
    yield* flush(false)
  }
  yield* flush(true)
  yield `${separator === '\n' ? '' : '\n'}]}}\n`
  losses.tell()
}

/** A lone surrogate is not allowed in a URL. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

function noteUrl(record: MessageRecord | HttpRecord, { url }: Origin, losses: Losses): void {
  if (record.type === 'message' && !record.http) losses.add('URLs are made up, since stdio has none')
  else if (url === null) losses.add('hosts of URLs are made up, since none is recorded')
}

function noteLosses(record: MessageRecord | HttpRecord, losses: Losses, meta: MetaRecord | undefined): void {
  if (record.type === 'http') return
  losses.times(record, meta?.startedAt)
  losses.marks(record)
  const isInvalid = record.parts.every(({ envelope }) => envelope.kind === 'invalid')
  if (isInvalid && readBody(record.raw, 'application/json').messages.length === 0)
    losses.add('messages that are not JSON-RPC are written as bodies only', record.parts.length)
  losses.links(record)
}

/**
 * Reads the recording once. Over HTTP a record belongs to its exchange, which ends with its last record. On stdio a
 * response belongs to the exchange of its request and ends it; other messages are separate exchanges.
 */
async function findPlaces(recording: Recording): Promise<(index: number) => ExchangePlace> {
  const lastOf = new Map<number, number>()
  let keys = new Float64Array(1024)
  const open = new Map<string, number>()
  let index = 0
  function see(record: TapeRecord): number {
    if (record.type === 'http') return record.exchange
    if (record.type !== 'message') return -1
    if (record.http) return record.http.exchange
    const own = -2 - index
    const fromClient = record.direction === 'client_to_server'
    let request: number | undefined
    for (const { id, correlatedId, envelope, late } of record.parts) {
      if (correlatedId !== undefined && !late) {
        request ??= open.get(correlatedId)
        open.delete(correlatedId)
      }
      // Requests of the server and the client's responses are separate exchanges.
      if (fromClient && envelope.kind === 'request' && id !== undefined) open.set(id, own)
    }
    // One response per exchange: later responses to the same batch are separate exchanges.
    const isFree = request !== undefined && lastOf.get(request) === -2 - request
    return isFree ? request! : own
  }
  for await (const record of recording.records()) {
    const key = see(record)
    if (index >= keys.length) {
      const larger = new Float64Array(keys.length * 2)
      larger.set(keys)
      keys = larger
    }
    keys[index] = key
    lastOf.set(key, index)
    index += 1
  }
  return (at) => ({ key: keys[at]!, isLast: lastOf.get(keys[at]!) === at })
}

function draftOf(record: MessageRecord | HttpRecord, ms: number, origin: Origin): EntryDraft {
  const http = record.type === 'http' ? record : record.http
  const isServers = record.type === 'message' && record.direction === 'server_to_client'
  const { label = '', url } = origin
  const host = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url ?? '')?.[0] ?? 'http://unknown.invalid'
  const path =
    http && 'path' in http && http.path
      ? http.path
      : /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url ?? '')?.[1] || '/'
  // Requests to another origin than the server's have a whole URL.
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(path)
  return {
    url: http ? `${isWhole ? '' : host}${path}` : `${stdioHost}${encodeURIComponent(wellFormed(label))}`,
    method: http && 'method' in http && http.method ? http.method : isServers ? 'GET' : 'POST',
    conversation: record.conversation,
    sentMs: ms,
    firstMs: undefined,
    phases: undefined,
    heldMs: 0,
    lastMs: ms,
    requestHeaders: [],
    requestBody: undefined,
    status: undefined,
    headers: [],
    body: undefined,
    bytes: undefined,
    events: [],
    error: undefined,
    asked: undefined,
    answered: undefined,
    size: 0,
  }
}

function put(record: MessageRecord | HttpRecord, moment: RecordTime, draft: EntryDraft): void {
  if (record.type === 'http') return putHttp(record, moment, draft)
  const { ms, place } = moment
  const { raw, http, sse } = record
  draft.size += raw.length
  if (record.direction === 'client_to_server') {
    draft.asked ??= place
    draft.heldMs += record.heldMs ?? 0
    draft.requestBody = draft.requestBody === undefined ? raw : `${draft.requestBody}\n${raw}`
    if (http?.headers) draft.requestHeaders = http.headers
    // Stdio has no status; messages other than requests get HTTP's status for notifications.
    if (!http && !record.parts.some(({ envelope }) => envelope.kind === 'request')) draft.status = 202
    return
  }
  answered(ms, draft, http)
  if (!http && draft.requestBody === undefined) {
    draft.events.push({ ...moment, sse: sse ?? { event: 'message' }, data: raw })
    return
  }
  if (sse || draft.events.length > 0) draft.events.push({ ...moment, sse: sse ?? {}, data: raw })
  else {
    draft.answered ??= place
    if (!valueOf(draft.headers, 'content-type'))
      draft.headers = [...draft.headers, ['content-type', 'application/json']]
    draft.body = draft.body === undefined ? raw : `${draft.body}\n${raw}`
  }
}

function answered(
  ms: number,
  draft: EntryDraft,
  http:
    | { readonly status?: number; readonly headers?: EntryDraft['headers']; readonly phases?: HttpPhases }
    | undefined,
): void {
  draft.firstMs ??= ms
  draft.lastMs = Math.max(draft.lastMs, ms)
  if (http?.headers && draft.headers.length === 0) draft.headers = http.headers
  draft.phases ??= http?.phases
  draft.status = http?.status ?? draft.status ?? 200
}

function putHttp(record: HttpRecord, moment: RecordTime, draft: EntryDraft): void {
  const { ms, place } = moment
  const { requestHeaders, requestBody, status, headers, phases, body, bytes, sse, why } = record
  if (requestHeaders) draft.requestHeaders = requestHeaders
  if (requestBody !== undefined) draft.requestBody = requestBody
  if (status !== undefined || headers)
    answered(ms, draft, {
      ...(status !== undefined && { status }),
      ...(headers && { headers }),
      ...(phases && { phases }),
    })
  draft.lastMs = Math.max(draft.lastMs, ms)
  draft.size += body?.length ?? 0
  if (sse) draft.events.push({ ...moment, sse, data: body ?? '' })
  else {
    draft.answered ??= place
    if (body !== undefined && body !== '') draft.body ??= body
  }
  if (bytes !== undefined) draft.bytes ??= bytes
  if (why !== undefined) draft.error = why
}
