import { eventAt, HttpBatchWalk, type HttpBatch, type HttpEventPlace } from './http-batch.js'
import { headOf } from './http-exchange.js'
import type { RecordedHttpEvent } from './http-event.js'

type EventOf<K extends RecordedHttpEvent['kind']> = Extract<RecordedHttpEvent, { kind: K }>

/** An exchange that a recording thread continues in the middle. */
export interface OpenExchange {
  readonly request: EventOf<'request'>
  readonly response: EventOf<'response'> | undefined
  /** Bytes of the body that passed before. */
  readonly requestBytes: number
  readonly requestEnded: boolean
  readonly responseBytes: number
  readonly responseEnded: boolean
  /** The position at which an event stream was cut: between two events, at the start of a line, or inside a line. */
  readonly cut: 'event' | 'line' | 'inside'
}

/** Heads are parsed on request, or before their batch's memory is reused. Most exchanges end before that. */
class Exchange implements OpenExchange {
  requestBytes = 0
  requestEnded = false
  responseBytes = 0
  responseEnded = false
  cut: OpenExchange['cut'] = 'event'
  isOver = false
  #request: EventOf<'request'> | undefined
  #response: EventOf<'response'> | undefined
  #requestPlace: HttpEventPlace | undefined
  #responsePlace: HttpEventPlace | undefined

  constructor(request: HttpEventPlace) {
    this.#requestPlace = request
  }

  get request(): EventOf<'request'> {
    return (this.#request ??= eventAt(this.#requestPlace!) as EventOf<'request'>)
  }

  get response(): EventOf<'response'> | undefined {
    return (this.#response ??= this.#responsePlace && (eventAt(this.#responsePlace) as EventOf<'response'>))
  }

  answered(response: HttpEventPlace): void {
    this.#response = undefined
    this.#responsePlace = response
  }

  /** Copies the heads out of the batch. */
  keep(): void {
    void this.request
    void this.response
    this.#requestPlace = undefined
    this.#responsePlace = undefined
  }

  told(): OpenExchange {
    const { request, response, requestBytes, requestEnded, responseBytes, responseEnded, cut } = this
    return { request, response, requestBytes, requestEnded, responseBytes, responseEnded, cut }
  }
}

/** Losses of HTTP traffic when a recording thread died. */
export interface HttpLoss {
  readonly messages: number
  readonly bytes: number
}

/** The same limit as in the recording thread. */
const mostExchanges = 50_000
const LF = 0x0a
const CR = 0x0d

/**
 * The exchanges that a recording thread knows, for the thread that replaces it. Updated when the thread has processed
 * a batch, not when traffic passes.
 */
export class OpenExchanges {
  /** Replaced after each batch: a `Map` with many additions and deletions keeps its former contents alive. */
  #open = new Map<number, Exchange>()

  /** Can be posted to another thread. */
  get all(): readonly OpenExchange[] {
    return [...this.#open.values()].map((exchange) => exchange.told())
  }

  /** The recording thread has processed a batch. */
  took(batch: HttpBatch): void {
    this.#walk(batch)
  }

  /** The thread died, possibly in a batch. Returns what that batch and incomplete earlier messages lost. */
  lost(batch: HttpBatch | undefined): HttpLoss {
    const requests = new Set<Exchange>()
    const answers = new Set<Exchange>()
    let bytes = 0
    let events = 0
    let unheard = 0
    for (const exchange of this.#open.values()) {
      const { requestBytes, requestEnded, response, responseBytes, responseEnded } = exchange
      if (requestBytes > 0 && !requestEnded) bytes += requestBytes
      if (responseBytes > 0 && !responseEnded && !(response && isStream(response))) {
        bytes += responseBytes
        answers.add(exchange)
      }
    }
    if (batch) {
      const walk = new HttpBatchWalk(batch)
      while (walk.next()) {
        if (walk.kind !== 'unheard') continue
        unheard += 1
        bytes += walk.body.length
      }
      this.#walk(batch, (exchange, kind, body) => {
        if (kind !== 'response') bytes += body.length
        if (kind === 'request-end' && exchange.requestBytes > 0) requests.add(exchange)
        if (kind !== 'response-body') return
        if (exchange.response && isStream(exchange.response)) events += eventsIn(body)
        else answers.add(exchange)
      })
    }
    for (const exchange of this.#open.values()) {
      const { requestBytes, requestEnded, response, cut } = exchange
      if (requestBytes > 0 && !requestEnded) requests.add(exchange)
      if (response && isStream(response) && cut !== 'event') events += 1
    }
    return { messages: requests.size + answers.size + events + unheard, bytes }
  }

  #walk(
    batch: HttpBatch,
    visit?: (exchange: Exchange, kind: RecordedHttpEvent['kind'], body: Buffer) => void,
  ): void {
    const walk = new HttpBatchWalk(batch)
    const touched: Exchange[] = []
    while (walk.next()) {
      const { kind } = walk
      if (kind === 'request') this.#begin(walk)
      const exchange = this.#open.get(walk.exchange)
      if (!exchange) continue
      if (kind === 'request-body') exchange.requestBytes += walk.body.length
      else if (kind === 'response') exchange.answered(walk.place)
      else if (kind === 'response-body') {
        exchange.responseBytes += walk.body.length
        exchange.cut = cutAfter(walk.body, exchange.cut)
      }
      visit?.(exchange, kind, walk.body)
      if (kind === 'request' || kind === 'response') touched.push(exchange)
      if (kind === 'request-end') exchange.requestEnded = true
      else if (kind === 'response-end') exchange.responseEnded = true
      exchange.isOver = kind === 'failed' || (exchange.requestEnded && exchange.responseEnded)
      if (exchange.isOver) this.#open.delete(walk.exchange)
    }
    // The memory of the batch is reused after this.
    for (const exchange of touched) if (!exchange.isOver) exchange.keep()
    this.#open = new Map(this.#open)
  }

  #begin(walk: HttpBatchWalk): void {
    if (this.#open.size >= mostExchanges) this.#open.delete(this.#open.keys().next().value!)
    this.#open.set(walk.exchange, new Exchange(walk.place))
  }
}

/** Whether the body is an event stream. */
export function isStream({ headers }: { readonly headers: readonly string[] }): boolean {
  return headOf(headers).isStream
}

/** Whether the stream has a content coding, so that its events cannot be read from the middle. */
export function isCoded({ headers }: EventOf<'response'>): boolean {
  const { coding = '' } = headOf(headers)
  return coding !== '' && coding !== 'identity'
}

function isBreak(byte: number | undefined): boolean {
  return byte === LF || byte === CR
}

function cutAfter(body: Uint8Array, before: OpenExchange['cut']): OpenExchange['cut'] {
  if (body.length === 0) return before
  if (!isBreak(body.at(-1))) return 'inside'
  const previous = body.at(-1) === LF && body.at(-2) === CR ? body.at(-3) : body.at(-2)
  if (previous === undefined) return before === 'inside' ? 'line' : 'event'
  return isBreak(previous) ? 'event' : 'line'
}

/** Blank lines, each of which ends an event. */
function eventsIn(body: Buffer): number {
  let events = 0
  for (const blank of ['\n\n', '\r\n\r\n']) {
    for (let at = body.indexOf(blank); at !== -1; at = body.indexOf(blank, at + blank.length)) events += 1
  }
  return events
}
