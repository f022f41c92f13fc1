import { utf8Length, type HttpHeaders, type HttpPhases, type SseContext } from '../../model/index.js'

/** One exchange under construction. */
export interface EntryDraft {
  readonly url: string
  readonly method: string
  readonly conversation: string | undefined
  /** Milliseconds since the epoch, with microseconds. */
  readonly sentMs: number
  firstMs: number | undefined
  phases: HttpPhases | undefined
  /** Milliseconds for which its request was held. */
  heldMs: number
  lastMs: number
  requestHeaders: HttpHeaders
  requestBody: string | undefined
  status: number | undefined
  headers: HttpHeaders
  body: string | undefined
  /** Base64 of a body that is not text. */
  bytes: string | undefined
  readonly events: EventDraft[]
  error: string | undefined
  /** The positions of its request and of its response among all written records. */
  asked: number | undefined
  answered: number | undefined
  /** Characters of its payloads. */
  size: number
}

export interface EventDraft {
  readonly ms: number
  /** Its position among all written records. */
  readonly place: number
  readonly sse: SseContext
  readonly data: string
}

const streamType = 'text/event-stream'

/** An entry of HAR 1.2 as JSON text, on separate lines. */
export function entryText(draft: EntryDraft): string {
  const { sentMs, firstMs = sentMs, lastMs, events, conversation, asked = null, answered = null } = draft
  const timings = timingsOf(draft)
  const members = [
    `"startedDateTime":${JSON.stringify(timeText(sentMs))}`,
    `"time":${duration(timings.ms)}`,
    `"request":${requestText(draft)}`,
    `"response":${responseText(draft)}`,
    '"cache":{}',
    `"timings":${timings.text}`,
    '"_resourceType":"fetch"',
  ]
  if (events.length > 0) members.push(`"_eventSourceMessages":[${events.map(eventText).join(',')}]`)
  if (conversation !== undefined) members.push(`"_conversation":${JSON.stringify(conversation)}`)
  // The head of a response arrives before its message.
  if (draft.phases)
    members.push(`"_answeredMs":${duration(firstMs - sentMs)}`, `"_endedMs":${duration(lastMs - sentMs)}`)
  // Times alone do not order simultaneous records.
  if (asked !== null || answered !== null) members.push(`"_order":[${asked},${answered}]`)
  return `{${members.join(',\n')}}`
}

/** Timings of an entry as JSON text, and its total duration. */
interface Timings {
  readonly text: string
  readonly ms: number
}

/**
 * Inapplicable timings are -1; `connect` includes `ssl`. Connecting begins with the head of a request, but its message
 * is recorded at the end of its body: the sum of the parts may exceed the time between messages.
 */
function timingsOf({ sentMs, firstMs = sentMs, lastMs, phases, heldMs }: EntryDraft): Timings {
  const wholeMs = lastMs - sentMs
  if (!phases) {
    const text = `{"send":0,"wait":${duration(firstMs - sentMs)},"receive":${duration(lastMs - firstMs)}}`
    return { text, ms: wholeMs }
  }
  const { dnsMs, connectMs, tlsMs, waitMs } = phases
  const connect = connectMs === undefined ? undefined : connectMs + (tlsMs ?? 0)
  const before = heldMs + (dnsMs ?? 0) + (connect ?? 0) + waitMs
  const known = (ms: number | undefined): number => (ms === undefined ? -1 : duration(ms))
  const text = `{"blocked":${heldMs > 0 ? duration(heldMs) : -1},"dns":${known(dnsMs)},"connect":${known(connect)},"ssl":${known(tlsMs)},"send":0,"wait":${duration(waitMs)},"receive":${duration(wholeMs - before)}}`
  return { text, ms: Math.max(wholeMs, before) }
}

function requestText({ method, url, requestHeaders, requestBody }: EntryDraft): string {
  const type = valueOf(requestHeaders, 'content-type') ?? 'application/json'
  const members = [
    `"method":${JSON.stringify(method)}`,
    `"url":${JSON.stringify(url)}`,
    '"httpVersion":"HTTP/1.1"',
    '"cookies":[]',
    `"headers":${headersText(requestHeaders)}`,
    `"queryString":${queryText(url)}`,
    '"headersSize":-1',
    `"bodySize":${requestBody === undefined ? 0 : utf8Length(requestBody)}`,
  ]
  if (requestBody !== undefined) {
    members.push(`"postData":{"mimeType":${JSON.stringify(type)},"text":${JSON.stringify(requestBody)}}`)
  }
  return `{${members.join(',')}}`
}

function responseText({ status, headers, body, bytes, events, error }: EntryDraft): string {
  const said = valueOf(headers, 'content-type') ?? ''
  // DevTools show events only for exactly this type.
  const isStream = events.length > 0 || said.startsWith(streamType)
  const type = isStream ? streamType : said
  const text = events.length > 0 ? events.map(streamText).join('') : body
  const size = text === undefined ? 0 : utf8Length(text)
  const content = [`"size":${size}`, `"mimeType":${JSON.stringify(type)}`]
  if (bytes !== undefined && text === undefined)
    content.push(`"text":${JSON.stringify(bytes)}`, '"encoding":"base64"')
  else if (text !== undefined) content.push(`"text":${JSON.stringify(text)}`)
  const members = [
    `"status":${status ?? 0}`,
    '"statusText":""',
    '"httpVersion":"HTTP/1.1"',
    '"cookies":[]',
    `"headers":${headersText(headers)}`,
    `"content":{${content.join(',')}}`,
    `"redirectURL":${JSON.stringify(valueOf(headers, 'location') ?? '')}`,
    '"headersSize":-1',
    `"bodySize":${size}`,
  ]
  if (error !== undefined) members.push(`"_error":${JSON.stringify(error)}`)
  return `{${members.join(',')}}`
}

function eventText({ ms, place, sse, data }: EventDraft): string {
  const members = [
    `"time":${ms / 1000}`,
    `"eventName":${JSON.stringify(sse.event ?? 'message')}`,
    `"eventId":${JSON.stringify(sse.id ?? '')}`,
    `"data":${JSON.stringify(data)}`,
    `"_order":${place}`,
  ]
  // Clients and browser tools treat a nameless event as `message`.
  if (sse.event === undefined) members.push('"_unnamed":true')
  if (sse.retry !== undefined) members.push(`"_retry":${sse.retry}`)
  return `{${members.join(',')}}`
}

/** The event in stream syntax; the original text is not recorded. */
function streamText({ sse, data }: EventDraft): string {
  let text = ''
  if (sse.event !== undefined) text += `event: ${sse.event}\n`
  if (sse.id !== undefined) text += `id: ${sse.id}\n`
  if (sse.retry !== undefined) text += `retry: ${sse.retry}\n`
  for (const line of data.split('\n')) text += `data: ${line}\n`
  return `${text}\n`
}

function headersText(headers: HttpHeaders): string {
  return JSON.stringify(headers.map(([name, value]) => ({ name, value })))
}

function queryText(url: string): string {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? ''
  const pairs = query === '' ? [] : query.split('&')
  return JSON.stringify(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return { name, value: value.join('=') }
    }),
  )
}

export function valueOf(headers: HttpHeaders, name: string): string | undefined {
  return headers.find(([written]) => written.toLowerCase() === name)?.[1]
}

/** ISO 8601, with microseconds when there are any. */
function timeText(ms: number): string {
  if (!(Math.abs(ms) <= 8.64e15)) return new Date(0).toISOString()
  const whole = Math.floor(ms)
  const micros = Math.round((ms - whole) * 1000)
  const text = new Date(whole).toISOString()
  return micros > 0 && micros < 1000 ? text.replace('Z', `${String(micros).padStart(3, '0')}Z`) : text
}

function duration(ms: number): number {
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms * 1000) / 1000) : 0
}
