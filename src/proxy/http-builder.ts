import { type GapRecord, type HttpRecord, type SseContext, type TapeRecord } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { SseParser, type SseEvent, longestMessage } from '../wire/index.js'
import { createEndpoints, isIdentity, legacySessionOf, type Conversations } from '../transports/index.js'
import { BodyRoom, createDecoder, decodedBody, HttpBody, wordsOf } from './http-body.js'
import { gapOfBody, gapOfSize } from './http-gap.js'
import type { GateEntry } from '../intercept/index.js'
import { readable } from './http-body-text.js'
import { recordOfExchange } from './http-context.js'
import type { RecordedHttpEvent } from './http-event.js'
import { AskedRequests, headOf, isWhole, type HttpExchange, type HttpResponse } from './http-exchange.js'
import { createHttpGate, mostExchanges } from './http-gate.js'
import { HttpMessageTaker, type TakeHttpLine } from './http-message-taker.js'
import { HttpMessages } from './http-messages.js'
import { goOnWith } from './http-resume.js'
import { andThen, type Later } from './later.js'
import type { OpenExchange } from './open-exchanges.js'
import type { Numbers } from './message-numbers.js'
import { PlainEvent } from './plain-event.js'
import { createStamp, type Moment } from './stamp.js'
import { unheardRecords } from './unheard-message.js'

/** Memory limit of all incomplete bodies together, in bytes. */
const mostBodyBytes = 256 * 1024 * 1024

/** Turns HTTP exchanges into records: messages with their place in HTTP, and exchanges without messages. */
export interface HttpBuilder {
  /**
   * Gives each record to `take` as soon as it exists. Events must arrive in order. If a call returns a promise, the
   * next one must wait for it. The events' bytes must not change before `keep`.
   */
  event(event: RecordedHttpEvent, take: (record: TapeRecord) => void): Later
  /** Copies the event bytes that are still needed. */
  keep(): void
  readonly messages: Pick<HttpMessages, 'openRequests' | 'toolHeaders'>
  /** Records a decision at the gate. */
  gate(entry: GateEntry, at: Moment): TapeRecord[]
  /** Continues exchanges that began before this recording thread. */
  resume(exchanges: readonly OpenExchange[]): void
  /** Records missing events as a gap. */
  lost(what: { readonly bytes: number; readonly messages: number }, why: string, at: Moment): TapeRecord
}

type Take = (record: TapeRecord) => void

/** @param takeLine undefined when all records are needed */
export function createHttpBuilder(
  redactor: Redactor,
  talks: Conversations,
  numbers: Numbers,
  resumed = false,
  takeLine?: TakeHttpLine,
): HttpBuilder {
  return new HttpRecordBuilder(redactor, talks, numbers, resumed, takeLine)
}

class HttpRecordBuilder implements HttpBuilder {
  readonly #redactor: Redactor
  readonly #numbers: Numbers
  readonly #talks: Conversations
  readonly #messages
  readonly #exchanges = new Map<number, HttpExchange>()
  readonly #room = new BodyRoom(mostBodyBytes)
  readonly #endpoints = createEndpoints()
  readonly #stamp = createStamp()
  readonly #gate
  readonly #taker
  readonly #plainEvent = new PlainEvent()
  /** A session id of known form is redacted; otherwise any part of the endpoint may be secret. */
  readonly #endpointText = (text: string): string =>
    legacySessionOf(text) === undefined ? this.#redactor.endpoint(text) : this.#redactor.path(text)

  /** Bodies that hold borrowed bytes. */
  #borrowing: HttpBody[] = []
  readonly #httpOf = (exchange: HttpExchange, at: Moment): HttpRecord =>
    recordOfExchange(exchange, this.#stamp(at), this.#redactor)

  constructor(
    redactor: Redactor,
    talks: Conversations,
    numbers: Numbers,
    resumed: boolean,
    takeLine: TakeHttpLine | undefined,
  ) {
    this.#redactor = redactor
    this.#numbers = numbers
    this.#talks = talks
    this.#messages = new HttpMessages(redactor, numbers)
    this.#gate = createHttpGate({
      redactor,
      messages: this.#messages,
      exchanges: this.#exchanges,
      stamp: this.#stamp,
      resumed,
    })
    this.#taker = new HttpMessageTaker({
      redactor,
      messages: this.#messages,
      gate: this.#gate,
      stamp: this.#stamp,
      takeLine,
    })
  }

  keep(): void {
    for (const body of this.#borrowing) body.keep()
    this.#borrowing = []
  }

  get messages(): Pick<HttpMessages, 'openRequests' | 'toolHeaders'> {
    return this.#messages
  }

  gate(entry: GateEntry, at: Moment): TapeRecord[] {
    const record = this.#gate.enter(entry, at)
    return record ? [record] : []
  }

  resume(all: readonly OpenExchange[]): void {
    for (const { request, response, ...rest } of all) {
      this.#begin(request)
      const exchange = this.#exchanges.get(request.exchange)!
      if (response) this.#respond(exchange, response, () => undefined)
      goOnWith(exchange, { request, response, ...rest })
    }
  }

  lost(
    { bytes, messages: begun }: { readonly bytes: number; readonly messages: number },
    why: string,
    at: Moment,
  ): TapeRecord {
    // Incomplete exchanges can no longer be matched.
    let lost = begun
    for (const exchange of this.#exchanges.values()) {
      const { method, requestRead, responseEnded } = exchange
      if (method === 'POST') lost += (requestRead ? 0 : 1) + (responseEnded ? 0 : 1)
      this.#forget(exchange)
    }
    this.#numbers.next += lost
    return { type: 'gap', ...this.#stamp(at), lost, lostBytes: bytes, why }
  }

  #addTo(body: HttpBody, bytes: Uint8Array): void {
    if (body.add(bytes)) this.#borrowing.push(body)
  }

  event(event: RecordedHttpEvent, take: Take): Later {
    if (event.kind === 'request') {
      this.#begin(event)
      return
    }
    if (event.kind === 'unheard') {
      const conversation = this.#talks.of({ connection: -1 }, event.session)
      for (const record of unheardRecords(this.#messages, event.bytes, conversation, this.#stamp(event)))
        take(record)
      return
    }
    const exchange = this.#exchanges.get(event.exchange)
    if (!exchange) return
    switch (event.kind) {
      case 'request-body':
        this.#addTo(exchange.requestBody, event.bytes)
        return
      case 'request-end':
        return andThen(this.#readRequest(exchange, event, take), () => {
          exchange.requestEnded = true
          if (exchange.responseEnded) this.#conclude(exchange, event, take)
        })
      case 'response':
        // The end of a request may be reported after the start of its response, which needs the request.
        return andThen(isWhole(exchange) ? this.#readRequest(exchange, event, take) : undefined, () =>
          this.#respond(exchange, event, take),
        )
      case 'response-body':
        return this.#readResponseBytes(exchange, event, take)
      case 'response-end':
        return andThen(this.#endResponse(exchange, event, take), () => {
          exchange.responseEnded = true
          if (exchange.requestEnded) this.#conclude(exchange, event, take)
        })
      case 'failed':
        return this.#fail(exchange, event, take)
    }
  }

  #begin(event: Extract<RecordedHttpEvent, { kind: 'request' }>): void {
    const head = headOf(event.headers)
    const session = head.session ?? legacySessionOf(event.path)
    if (this.#exchanges.size >= mostExchanges) this.#forget(this.#exchanges.values().next().value!)
    this.#exchanges.set(event.exchange, {
      number: event.exchange,
      connection: event.connection,
      method: event.method,
      path: this.#endpoints.has(event) ? this.#endpointText(event.path) : this.#redactor.path(event.path),
      requestHead: head,
      conversation:
        (session === undefined && this.#endpoints.of(event)) ||
        this.#talks.of({ connection: event.connection }, session),
      address: event,
      requestBody: new HttpBody(longestMessage, this.#room),
      requests: new AskedRequests(),
      requestTold: false,
      requestEnded: false,
      requestRead: false,
      responseEnded: false,
    })
  }

  #readRequest(exchange: HttpExchange, at: Moment, take: Take): Later {
    const { requestBody, requestHead } = exchange
    if (exchange.requestRead || requestBody.sizeBytes === 0) return
    exchange.requestRead = true
    if (requestBody.isTooLong)
      return take(this.#skipped(gapOfBody(requestBody, 'client_to_server', this.#stamp(at))))
    return andThen(decodedBody(requestBody, requestHead.coding), (decoded) => {
      if (!('bytes' in decoded)) {
        exchange.requestText = `(${decoded.opaque})`
        return
      }
      if (this.#taker.take(exchange, decoded.bytes, 'client_to_server', undefined, at, take)) return
      const { body } = readable(this.#redactor, decoded.bytes, requestHead.headers)
      if (body !== undefined) exchange.requestText = body
    })
  }

  #respond(
    exchange: HttpExchange,
    event: Extract<RecordedHttpEvent, { kind: 'response' }>,
    take: Take,
  ): void {
    const head = headOf(event.headers)
    const { session, isStream, coding } = head
    if (session !== undefined) this.#talks.begin(session, exchange)
    const decoder = createDecoder(coding)
    exchange.response = {
      status: event.status,
      head,
      phases: event.phases,
      told: false,
      body: new HttpBody(longestMessage, this.#room),
      events: isStream ? new SseParser() : undefined,
      decoder,
      isPlain: isIdentity(coding),
      opaque: decoder ? undefined : `the content coding ${coding} is not supported`,
      isCut: false,
    }
    // A stream may stay open for hours, so its start is recorded at once.
    if (isStream && !exchange.requestTold) take(this.#httpOf(exchange, event))
  }

  #readResponseBytes(
    exchange: HttpExchange,
    event: Extract<RecordedHttpEvent, { kind: 'response-body' }>,
    take: Take,
  ): Later {
    const { response } = exchange
    if (!response) return
    const { events } = response
    if (!events) return this.#addTo(response.body, event.bytes)
    if (response.isPlain && !response.isCut && events.isBetween && this.#plainEvent.read(event.bytes)) {
      const { start, end, sse } = this.#plainEvent
      const data = event.bytes.subarray(start, end)
      if (this.#taker.takePlain(exchange, data, 'server_to_client', sse, event))
        return events.pass(event.bytes.length)
    }
    return this.#readEvents(exchange, response, events, event, take)
  }

  async #readEvents(
    exchange: HttpExchange,
    response: HttpResponse,
    events: SseParser,
    event: Extract<RecordedHttpEvent, { kind: 'response-body' }>,
    take: Take,
  ): Promise<void> {
    if (response.opaque !== undefined) return
    try {
      // The parser keeps incomplete events, so it gets a copy.
      const bytes = await response.decoder!.push(Buffer.from(event.bytes))
      for (const sse of events.push(bytes)) {
        if (response.isCut) response.isCut = false
        else this.#takeEvent(exchange, sse, event, take)
      }
    } catch (error) {
      response.opaque = `its content coding is broken: ${wordsOf(error)}`
    }
  }

  #takeEvent(exchange: HttpExchange, sse: SseEvent, at: Moment, take: Take): void {
    const context: SseContext = {
      ...(sse.event !== undefined && { event: sse.event }),
      ...(sse.id !== undefined && { id: sse.id }),
      ...(sse.retry !== undefined && { retry: sse.retry }),
    }
    if (sse.event === 'endpoint' && sse.data !== undefined) {
      const session = legacySessionOf(sse.data)
      if (session !== undefined) this.#talks.begin(session, exchange)
      else if (exchange.method === 'GET')
        this.#endpoints.named(sse.data, exchange.address, exchange.conversation)
    }
    if (sse.tooLong) {
      return take(this.#skipped(gapOfSize(sse.sizeBytes, 'server_to_client', this.#stamp(at))))
    }
    const isMessage = sse.data !== undefined && (!sse.event || sse.event === 'message')
    const direction = 'server_to_client'
    if (isMessage && this.#taker.take(exchange, sse.data, direction, context, at, take, sse.plain)) return
    if (sse.data === undefined && sse.id === undefined && sse.retry === undefined) return
    const body =
      sse.event === 'endpoint' ? this.#endpointText(sse.data ?? '') : this.#redactor.text(sse.data ?? '')
    take({ ...this.#httpOf(exchange, at), body, sse: context })
  }

  #endResponse(exchange: HttpExchange, at: Moment, take: Take): Later {
    const { response } = exchange
    if (!response) return
    if (response.events) {
      for (const sse of response.events.end()) if (sse.complete) this.#takeEvent(exchange, sse, at, take)
      return
    }
    if (response.body.isTooLong) {
      take(this.#skipped(gapOfBody(response.body, 'server_to_client', this.#stamp(at))))
      return
    }
    if (response.opaque !== undefined || response.body.sizeBytes === 0) return
    return andThen(decodedBody(response.body, response.head.coding), (decoded) => {
      if (!('bytes' in decoded)) {
        response.opaque = decoded.opaque
        return
      }
      if (this.#taker.take(exchange, decoded.bytes, 'server_to_client', undefined, at, take)) return
      const { sizeBytes } = response.body
      take({
        ...this.#httpOf(exchange, at),
        ...readable(this.#redactor, decoded.bytes, response.head.headers),
        sizeBytes,
      })
    })
  }

  /** Stops following an exchange. */
  #forget(exchange: HttpExchange): void {
    this.#exchanges.delete(exchange.number)
    exchange.requestBody.take()
    exchange.response?.body.take()
  }

  /** An exchange without any record of its response gets a record of its own. */
  #conclude(exchange: HttpExchange, at: Moment, take: Take, why?: string): void {
    this.#forget(exchange)
    this.#endpoints.over(exchange.number)
    const { response } = exchange
    const reason = why ?? response?.opaque
    if ((response?.status ?? 0) >= 400) this.#messages.over(exchange)
    if (response?.told && reason === undefined) return
    const sizeBytes = response?.body.sizeBytes ?? 0
    take({
      ...this.#httpOf(exchange, at),
      ...(sizeBytes > 0 && { sizeBytes }),
      ...(reason !== undefined && { why: reason }),
    })
  }

  #fail(exchange: HttpExchange, event: Extract<RecordedHttpEvent, { kind: 'failed' }>, take: Take): Later {
    const read = exchange.requestEnded ? undefined : this.#readRequest(exchange, event, take)
    return andThen(read, () => this.#failed(exchange, event, take))
  }

  #failed(exchange: HttpExchange, event: Extract<RecordedHttpEvent, { kind: 'failed' }>, take: Take): void {
    const { response } = exchange
    // A partial body is worth recording as far as it is readable.
    if (response && response.body.sizeBytes > 0 && response.opaque === undefined) {
      const { body } = readable(this.#redactor, response.body.take(), response.head.headers)
      if (body !== undefined) take({ ...this.#httpOf(exchange, event), body })
    }
    const answered = event.status === undefined ? '' : `, answered ${event.status} by wiretape`
    this.#conclude(exchange, event, take, this.#redactor.text(`${event.by}: ${event.why}${answered}`))
  }

  #skipped(gap: GapRecord): GapRecord {
    this.#messages.skip()
    return gap
  }
}
