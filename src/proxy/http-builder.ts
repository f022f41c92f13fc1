import {
  type Direction,
  type GapRecord,
  type HeldRecord,
  type HttpContext,
  type HttpRecord,
  type MessageRecord,
  type SseContext,
  type TapeRecord,
} from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { createSseParser, type SseEvent, type SseParser, longestMessage } from '../wire/index.js'
import { createEndpoints, legacySessionOf, type Conversations } from '../transports/index.js'
import { BodyRoom, createDecoder, decodedBody, HttpBody, wordsOf } from './http-body.js'
import { gapOfBody, gapOfSize } from './http-gap.js'
import type { GateEntry } from '../intercept/index.js'
import { readable } from './http-body-text.js'
import { contextIn, recordOfExchange } from './http-context.js'
import type { RecordedHttpEvent } from './http-event.js'
import {
  headerOf,
  isWhole,
  mediaTypeOf,
  pairsOf,
  type HttpExchange,
  type HttpResponse,
} from './http-exchange.js'
import { createHttpGate, mostExchanges } from './http-gate.js'
import { createHttpMessages, type HttpMessages } from './http-messages.js'
import { goOnWith } from './http-resume.js'
import type { OpenExchange } from './open-exchanges.js'
import type { Numbers } from './message-numbers.js'
import { createStamp, type Moment } from './stamp.js'
import { unheardRecords } from './unheard-message.js'

/** Bodies that are under way at the same time hold no more than this together. */
const mostBodyBytes = 256 * 1024 * 1024

/** Turns what passed on HTTP exchanges into records: messages with their place in HTTP, and what carried none. */
export interface HttpBuilder {
  /**
   * Gives each record to `take` as it is made. Events must come in order, one call after the other, and after the promise
   * of the one before, where that gave one. Their bytes must not change before `keep`.
   */
  event(event: RecordedHttpEvent, take: (record: TapeRecord) => void): Later
  /** Copies what is still needed of the bytes of events. */
  keep(): void
  readonly messages: Pick<HttpMessages, 'openRequests' | 'toolHeaders'>
  /** What was decided at the gate. */
  gate(entry: GateEntry, at: Moment): TapeRecord[]
  /** Exchanges go on that began before this recording thread. */
  resume(exchanges: readonly OpenExchange[]): void
  /** Events are missing: what they would have told is not on the tape. */
  lost(what: { readonly bytes: number; readonly messages: number }, why: string, at: Moment): TapeRecord
}

type Take = (record: TapeRecord) => void
/** A promise only where something takes its time: it costs more than most events do. */
type Later = void | Promise<void>

export function createHttpBuilder(
  redactor: Redactor,
  talks: Conversations,
  numbers: Numbers,
  resumed = false,
): HttpBuilder {
  const messages = createHttpMessages(redactor, numbers)
  const exchanges = new Map<number, HttpExchange>()
  const room = new BodyRoom(mostBodyBytes)
  const endpoints = createEndpoints()
  const stamp = createStamp()
  const gate = createHttpGate({ redactor, messages, exchanges, stamp, resumed })

  /** A session whose name is known is a secret; one that stands elsewhere may be any part. */
  const endpointText = (text: string): string =>
    legacySessionOf(text) === undefined ? redactor.endpoint(text) : redactor.path(text)

  /** Bodies that hold bytes of others. */
  let borrowing: HttpBody[] = []
  function addTo(body: HttpBody, bytes: Uint8Array): void {
    if (body.add(bytes)) borrowing.push(body)
  }

  function event(event: RecordedHttpEvent, take: Take): Later {
    if (event.kind === 'request') {
      begin(event)
      return
    }
    if (event.kind === 'unheard') {
      const conversation = talks.of({ connection: -1 }, event.session)
      for (const record of unheardRecords(messages, event.bytes, conversation, stamp(event))) take(record)
      return
    }
    const exchange = exchanges.get(event.exchange)
    if (!exchange) return
    switch (event.kind) {
      case 'request-body':
        addTo(exchange.requestBody, event.bytes)
        return
      case 'request-end':
        return then(readRequest(exchange, event, take), () => {
          exchange.requestEnded = true
          if (exchange.responseEnded) conclude(exchange, event, take)
        })
      case 'response':
        // The end of a request may be told after its answer begins; the answer needs to know what it answers.
        return then(isWhole(exchange) ? readRequest(exchange, event, take) : undefined, () =>
          respond(exchange, event, take),
        )
      case 'response-body':
        return readResponseBytes(exchange, event, take)
      case 'response-end':
        return then(endResponse(exchange, event, take), () => {
          exchange.responseEnded = true
          if (exchange.requestEnded) conclude(exchange, event, take)
        })
      case 'failed':
        return fail(exchange, event, take)
    }
  }

  function begin(event: Extract<RecordedHttpEvent, { kind: 'request' }>): void {
    const headers = pairsOf(event.headers)
    const session = headerOf(headers, 'mcp-session-id') ?? legacySessionOf(event.path)
    if (exchanges.size >= mostExchanges) forget(exchanges.values().next().value!)
    exchanges.set(event.exchange, {
      number: event.exchange,
      connection: event.connection,
      method: event.method,
      path: endpoints.has(event) ? endpointText(event.path) : redactor.path(event.path),
      requestHeaders: headers,
      conversation:
        (session === undefined && endpoints.of(event)) || talks.of({ connection: event.connection }, session),
      address: event,
      requestBody: new HttpBody(longestMessage, room),
      requests: new Map(),
      requestTold: false,
      requestEnded: false,
      requestRead: false,
      responseEnded: false,
    })
  }

  function readRequest(exchange: HttpExchange, at: Moment, take: Take): Later {
    const { requestBody, requestHeaders } = exchange
    if (exchange.requestRead || requestBody.sizeBytes === 0) return
    exchange.requestRead = true
    if (requestBody.isTooLong) return take(skipped(gapOfBody(requestBody, 'client_to_server', stamp(at))))
    return then(decodedBody(requestBody, headerOf(requestHeaders, 'content-encoding')), (decoded) => {
      if (!('bytes' in decoded)) {
        exchange.requestText = `(${decoded.opaque})`
        return
      }
      const record = messageOf(exchange, decoded.bytes, 'client_to_server', undefined, at)
      if (record) return take(record)
      const { body } = readable(redactor, decoded.bytes, requestHeaders)
      if (body !== undefined) exchange.requestText = body
    })
  }

  function respond(
    exchange: HttpExchange,
    event: Extract<RecordedHttpEvent, { kind: 'response' }>,
    take: Take,
  ): void {
    const headers = pairsOf(event.headers)
    const session = headerOf(headers, 'mcp-session-id')
    if (session !== undefined) talks.begin(session, exchange)
    const isStream = mediaTypeOf(headers) === 'text/event-stream'
    const coding = headerOf(headers, 'content-encoding')
    const decoder = createDecoder(coding)
    exchange.response = {
      status: event.status,
      headers,
      told: false,
      body: new HttpBody(longestMessage, room),
      events: isStream ? createSseParser() : undefined,
      decoder,
      ...(!decoder && { opaque: `the content coding ${coding} is not supported` }),
    }
    // A stream may stay open for hours: that it began, and from which event on, is told at once.
    if (isStream && !exchange.requestTold) take(httpOf(exchange, event))
  }

  function readResponseBytes(
    exchange: HttpExchange,
    event: Extract<RecordedHttpEvent, { kind: 'response-body' }>,
    take: Take,
  ): Later {
    const { response } = exchange
    if (!response) return
    if (response.events) return readEvents(exchange, response, response.events, event, take)
    addTo(response.body, event.bytes)
  }

  async function readEvents(
    exchange: HttpExchange,
    response: HttpResponse,
    events: SseParser,
    event: Extract<RecordedHttpEvent, { kind: 'response-body' }>,
    take: Take,
  ): Promise<void> {
    if (response.opaque !== undefined) return
    try {
      // The parser keeps what has not ended.
      const bytes = await response.decoder!.push(Buffer.from(event.bytes))
      for (const sse of events.push(bytes)) {
        if (response.isCut) response.isCut = false
        else takeEvent(exchange, sse, event, take)
      }
    } catch (error) {
      response.opaque = `its content coding is broken: ${wordsOf(error)}`
    }
  }

  function takeEvent(exchange: HttpExchange, sse: SseEvent, at: Moment, take: Take): void {
    const context: SseContext = {
      ...(sse.event !== undefined && { event: sse.event }),
      ...(sse.id !== undefined && { id: sse.id }),
      ...(sse.retry !== undefined && { retry: sse.retry }),
    }
    if (sse.event === 'endpoint' && sse.data !== undefined) {
      const session = legacySessionOf(sse.data)
      if (session !== undefined) talks.begin(session, exchange)
      else if (exchange.method === 'GET') endpoints.named(sse.data, exchange.address, exchange.conversation)
    }
    if (sse.tooLong) {
      take(skipped(gapOfSize(sse.sizeBytes, 'server_to_client', stamp(at))))
      return
    }
    const isMessage = sse.data !== undefined && (!sse.event || sse.event === 'message')
    const record = isMessage && messageOf(exchange, Buffer.from(sse.data), 'server_to_client', context, at)
    if (record) return take(record)
    if (sse.data === undefined && sse.id === undefined && sse.retry === undefined) return
    const body = sse.event === 'endpoint' ? endpointText(sse.data ?? '') : redactor.text(sse.data ?? '')
    take({ ...httpOf(exchange, at), body, sse: context })
  }

  function endResponse(exchange: HttpExchange, at: Moment, take: Take): Later {
    const { response } = exchange
    if (!response) return
    if (response.events) {
      for (const sse of response.events.end()) if (sse.complete) takeEvent(exchange, sse, at, take)
      return
    }
    if (response.body.isTooLong) {
      take(skipped(gapOfBody(response.body, 'server_to_client', stamp(at))))
      return
    }
    if (response.opaque !== undefined || response.body.sizeBytes === 0) return
    return then(decodedBody(response.body, headerOf(response.headers, 'content-encoding')), (decoded) => {
      if (!('bytes' in decoded)) {
        response.opaque = decoded.opaque
        return
      }
      const record = messageOf(exchange, decoded.bytes, 'server_to_client', undefined, at)
      if (record) return take(record)
      const { sizeBytes } = response.body
      take({
        ...httpOf(exchange, at),
        ...readable(redactor, decoded.bytes, response.headers),
        sizeBytes,
      })
    })
  }

  /** Nothing more is told of it. */
  function forget(exchange: HttpExchange): void {
    exchanges.delete(exchange.number)
    exchange.requestBody.take()
    exchange.response?.body.take()
  }

  /** An exchange whose response told nothing yet leaves a record of its own. */
  function conclude(exchange: HttpExchange, at: Moment, take: Take, why?: string): void {
    forget(exchange)
    endpoints.over(exchange.number)
    const { response } = exchange
    const reason = why ?? response?.opaque
    if ((response?.status ?? 0) >= 400) messages.over(exchange)
    if (response?.told && reason === undefined) return
    const sizeBytes = response?.body.sizeBytes ?? 0
    take({
      ...httpOf(exchange, at),
      ...(sizeBytes > 0 && { sizeBytes }),
      ...(reason !== undefined && { why: reason }),
    })
  }

  function fail(
    exchange: HttpExchange,
    event: Extract<RecordedHttpEvent, { kind: 'failed' }>,
    take: Take,
  ): Later {
    const read = exchange.requestEnded ? undefined : readRequest(exchange, event, take)
    return then(read, () => failed(exchange, event, take))
  }

  function failed(
    exchange: HttpExchange,
    event: Extract<RecordedHttpEvent, { kind: 'failed' }>,
    take: Take,
  ): void {
    const { response } = exchange
    // What came of the body is worth having, as far as it can be read.
    if (response && response.body.sizeBytes > 0 && response.opaque === undefined) {
      const { body } = readable(redactor, response.body.take(), response.headers)
      if (body !== undefined) take({ ...httpOf(exchange, event), body })
    }
    const answered = event.status === undefined ? '' : `, answered ${event.status} by wiretape`
    conclude(exchange, event, take, redactor.text(`${event.by}: ${event.why}${answered}`))
  }

  /** @returns undefined when the bytes are no JSON-RPC */
  function messageOf(
    exchange: HttpExchange,
    bytes: Uint8Array,
    direction: Direction,
    sse: SseContext | undefined,
    at: Moment,
  ): MessageRecord | HeldRecord | undefined {
    const verdict = gate.takeVerdict(exchange.number, direction)
    const frame = messages.read(exchange, bytes, direction, verdict?.id)
    if (!frame) return undefined
    const message: MessageRecord = {
      type: 'message',
      ...stamp(at),
      direction,
      ...frame,
      conversation: exchange.conversation,
      http: contextOf(exchange, direction),
      ...(sse && { sse }),
    }
    return verdict ? gate.judged(message, verdict, exchange) : message
  }

  const contextOf = (exchange: HttpExchange, direction: Direction): HttpContext =>
    contextIn(exchange, direction, redactor)
  const httpOf = (exchange: HttpExchange, at: Moment): HttpRecord =>
    recordOfExchange(exchange, stamp(at), redactor)

  function skipped(gap: GapRecord): GapRecord {
    messages.skip()
    return gap
  }

  return {
    event,
    keep() {
      for (const body of borrowing) body.keep()
      borrowing = []
    },
    messages,
    gate(entry, at) {
      const record = gate.enter(entry, at)
      return record ? [record] : []
    },
    resume(all) {
      for (const { request, response, ...rest } of all) {
        begin(request)
        const exchange = exchanges.get(request.exchange)!
        if (response) respond(exchange, response, () => undefined)
        goOnWith(exchange, { request, response, ...rest })
      }
    },
    lost({ bytes, messages: begun }, why, at) {
      // What is under way can no longer be told apart.
      let lost = begun
      for (const exchange of exchanges.values()) {
        const { method, requestRead, responseEnded } = exchange
        if (method === 'POST') lost += (requestRead ? 0 : 1) + (responseEnded ? 0 : 1)
        forget(exchange)
      }
      numbers.next += lost
      return { type: 'gap', ...stamp(at), lost, lostBytes: bytes, why }
    },
  }
}

function then<T>(value: T | Promise<T>, next: (value: T) => void): Later {
  if (value instanceof Promise) return value.then(next)
  next(value)
}
