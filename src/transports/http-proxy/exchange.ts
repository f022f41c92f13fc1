import type { Passing, RawHeaders } from '../../wire/index.js'
import type { ClientRequest, IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http'
import { answerOf, type Answer } from './answer.js'
import { withoutContentCoding } from '../content-coding.js'
import { createBodyFlow, flushHead, type BodyFlow, type FlowObserver } from './body-flow.js'
import { breakOff, type Breakable, type ClientConnection } from './client-connection.js'
import { createEventFlow } from './event-flow.js'
import { createEndpointWatch } from './endpoint-watch.js'
import { failureWords, isNotHttp } from './failure-words.js'
import type { ExchangeHead, Gatekeeper } from './gatekeeper.js'
import { momentNow, type ArrivalTime, type Breaker, type Tell } from './http-event.js'
import { passInformation } from './information.js'
import { PhaseClock } from './phases.js'
import { answerAlone, refusalOf, refuse } from './refusal.js'
import type { Route, Setting } from './setting.js'
import { joins, showAnswer } from './show-answer.js'
import {
  collectBody,
  hasBody,
  hasEvents,
  isJson,
  isStream,
  whyUnseen,
  withoutHeader,
  type BodyReader,
} from './whole-body.js'
import { openUpstreamRequest } from './upstream-request.js'

/** Forwards one request to the upstream and its response back. Ends by itself, or with its connection. */
export class Exchange implements Breakable {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #connection: ClientConnection
  readonly #setting: Setting
  readonly #tell: Tell
  readonly #ownPrefix: string
  readonly #came = momentNow()
  #head: ExchangeHead
  #route: Route | undefined
  #onward: ClientRequest | undefined
  #clock: PhaseClock | undefined
  #answer: IncomingMessage | undefined
  #framed = true
  #begun = false
  /** We have sent the 100 response ourselves. */
  #continued = false
  #over = false
  #unseen = false
  /** Our own responses to parts of a batch, which the client gets together with the upstream's response. */
  #extra: readonly string[] = []
  readonly #flows: { request?: BodyFlow; response?: BodyFlow } = {}
  readonly #leaves: (() => void)[] = []
  readonly #open = { request: true, response: true }

  /** @param ownPrefix first part of the path by which the client reaches us, already removed from `request.url` */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: ClientConnection,
    setting: Setting,
    number: number,
    tell: Tell,
    ownPrefix = '',
  ) {
    this.#request = request
    this.#response = response
    this.#connection = connection
    this.#setting = setting
    this.#tell = tell
    this.#ownPrefix = ownPrefix
    this.#head = {
      exchange: number,
      connection: connection.number,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: request.rawHeaders,
      conversation: '',
    }
  }

  start(): void {
    this.#leaves.push(this.#connection.running.add(this))
    // The connection reports all of these errors too.
    this.#request.on('error', () => undefined)
    this.#response.on('error', () => undefined)
    this.#setting.gate.pass(() => this.#begin())
  }

  #keeper(): Gatekeeper | undefined {
    return this.#setting.gatekeeper?.()
  }

  #begin(): void {
    if (this.#over) return
    this.#begun = true
    const found = refusalOf(this.#request) ?? this.#setting.route(this.#request, this.#connection)
    let refusedBySelf: unknown
    const { method, path, headers } = this.#head
    const isPost = method === 'POST' && isJson(this.#request)
    if (!('why' in found)) {
      this.#route = found
      const placed = { ...this.#head, ...found.target }
      this.#head = { ...placed, conversation: this.#setting.talks.conversationOf(placed) }
      if (isPost) this.#setting.talks.posted(this.#head)
    }
    const mayHold = this.#route !== undefined && hasBody(this.#request)
    const isWanted = mayHold && this.#keeper()?.wants(this.#head, 'request') === true
    // `Expect: 100-continue` is a question to the upstream, unless the body is certain to be a message.
    const shown = isWanted && (isPost || this.#request.headers.expect === undefined)
    if (this.#route && !shown) {
      try {
        this.#onward = openUpstreamRequest(this.#request, this.#route)
      } catch (error) {
        refusedBySelf = error
      }
    }
    if (this.#onward) {
      this.#listenTo(this.#onward, this.#route!)
      this.#passHead(this.#onward, this.#flowRequest(this.#onward))
    }
    const { connection } = this.#head
    this.#tell(
      { kind: 'request', connection, method, headers, ...(this.#route?.target ?? { path }) },
      this.#came,
    )
    if ('why' in found) return this.fail('wiretape', found.why, found.status)
    if (shown) return this.#showRequest()
    if (isWanted && method === 'POST')
      this.#keeper()?.unseen(this.#head, 'request', 'a body that is sent only after a 100 response')
    if (!this.#onward)
      this.fail('wiretape', `the request cannot be forwarded: ${failureWords(refusedBySelf)}`, 502)
  }

  /** Reads the whole body and shows it to the gatekeeper before anything is forwarded. */
  #showRequest(): void {
    // A client that waits for a 100 response sends no body before it.
    if (this.#request.headers.expect !== undefined) this.#response.writeContinue()
    this.#continued = true
    const body = collectBody(this.#request, {
      ...this.#bounds(),
      chunk: (bytes, moment) => this.#tell({ kind: 'request-body', bytes }, moment),
      whole: (bytes, moment) => {
        const decoded = withoutContentCoding(bytes, this.#request.headers['content-encoding'])
        if (!decoded) this.#keeper()?.unseen(this.#head, 'request', whyUnseen(this.#request))
        const passing = decoded && this.#keeper()?.request(this.#head, decoded)
        this.#ended('request', moment)
        if (!passing) return this.#sendOn(bytes)
        void passing.then((how) => {
          if (this.#over) return
          if (how.kind !== 'forward') return this.#answerOurselves(how)
          this.#extra = how.answers ?? []
          this.#sendOn(how.body ?? bytes, how.headers && withoutHeader(how.headers, 'content-encoding'))
        })
      },
      passOn: (chunks, why) => {
        if (why !== undefined) this.#keeper()?.unseen(this.#head, 'request', why)
        if (!this.#openOnward()) return
        for (const bytes of chunks) this.#onward!.write(bytes)
        this.#flowRequest(this.#onward!)
      },
    })
    this.#leaves.push(this.#setting.gate.add(body), () => body.stop())
  }

  #flowRequest(onward: ClientRequest): BodyFlow {
    this.#flows.request = createBodyFlow(this.#request, onward, this.#observerOf('request'))
    this.#leaves.push(this.#setting.gate.add(this.#flows.request))
    return this.#flows.request
  }

  /** Limits for a body that is read whole. */
  #bounds(): Pick<BodyReader, 'room' | 'mustWait'> {
    const mustWait = (goOn: () => void): boolean => this.#keeper()?.mustWait(this.#head, goOn) ?? false
    return { room: this.#setting.room, mustWait }
  }

  #openOnward(changed?: RawHeaders): boolean {
    try {
      const { method, headers } = this.#head
      this.#onward = openUpstreamRequest({ method, rawHeaders: changed ?? headers }, this.#route!)
    } catch (error) {
      this.fail('wiretape', `the request cannot be forwarded: ${failureWords(error)}`, 502)
      return false
    }
    this.#listenTo(this.#onward, this.#route!)
    return true
  }

  #sendOn(bytes: Uint8Array, changed?: RawHeaders): void {
    if (this.#openOnward(changed)) this.#onward!.end(bytes)
  }

  /** Answers in place of the upstream, which did not get the request, or whose response is dropped. */
  #answerOurselves(how: Exclude<Passing, { kind: 'forward' }>): void {
    if (how.kind === 'disconnect') return this.fail('wiretape', how.why)
    this.#finish()
    const { status, body, why } = how
    answerAlone(this.#response, status, body)
    this.#onward?.destroy()
    this.#tell({ kind: 'failed', by: 'wiretape', why, status }, momentNow())
  }

  #listenTo(onward: ClientRequest, { upstream }: Route): void {
    const phases = (this.#clock = new PhaseClock())
    onward.on('socket', (socket) => {
      this.#setting.onUpstreamSocket(socket)
      phases.connection(onward, socket, upstream.protocol === 'https:')
    })
    onward.on('continue', () => {
      if (!this.#over && !this.#response.headersSent && !this.#continued) this.#response.writeContinue()
    })
    onward.on('information', (information) => {
      if (!this.#over) passInformation(this.#response, information)
    })
    onward.on('response', (came) => {
      this.#answer = came
      const moment = momentNow()
      came.on('aborted', () => this.#flows.response?.salvage())
      came.on('error', (error) => this.#setting.gate.pass(() => this.#upstreamBroke(error)))
      this.#setting.gate.pass(() => this.#respond(came, moment))
    })
    onward.on('error', (error) => this.#setting.gate.pass(() => this.#upstreamBroke(error)))
    onward.on('close', () => this.#setting.gate.pass(() => this.#checkHalf()))
  }

  #tellResponse({ statusCode: status = 0, rawHeaders: headers }: IncomingMessage, moment: ArrivalTime): void {
    const phases = this.#clock?.phases(moment.atMs)
    this.#tell({ kind: 'response', status, headers, ...(phases && { phases }) }, moment)
  }

  #respond(came: IncomingMessage, moment: ArrivalTime): void {
    if (this.#over) return
    const ours = answerOf(this.#request, came, this.#route?.answer, this.#ownPrefix)
    this.#framed = ours.framed
    this.#response.sendDate = false
    const respondHead = (sizeBytes?: number): void => this.#sendHead(came, ours.headers(sizeBytes))
    const { 'mcp-session-id': session } = came.headers
    if (typeof session === 'string') this.#setting.talks.begin(session, this.#head)
    // Bodies with messages, as the recorder sees them: events, and any other body that is JSON.
    const hasMore = !ours.waits && this.#head.method !== 'HEAD' && hasBody(came)
    const wanted = hasMore && this.#keeper()?.wants(this.#head, 'answer') === true
    const stream = isStream(came)
    if (hasEvents(came, wanted)) return this.#respondEvents(came, moment, ours)
    if (joins(came, this.#extra) || (wanted && !stream)) return this.#showWhole(came, moment, ours)
    const observer = this.#observerOf('response', stream ? came : undefined)
    this.#flows.response = createBodyFlow(came, this.#response, observer, ours.change?.(respondHead))
    if (!ours.waits) respondHead()
    if (this.#over) return
    if (!ours.waits) this.#passHead(this.#response, this.#flows.response)
    this.#tellResponse(came, moment)
    this.#leaves.push(this.#setting.gate.add(this.#flows.response))
    // The response broke while it had to wait.
    if (came.destroyed) this.#flows.response.salvage()
  }

  #respondEvents(came: IncomingMessage, moment: ArrivalTime, ours: Answer): void {
    const watch = createEndpointWatch((endpoint) => this.#setting.talks.pointed(endpoint, this.#head))
    const flow = createEventFlow(
      came,
      this.#response,
      {
        chunk: (bytes, moment) => {
          if (this.#head.method === 'GET') watch(bytes)
          this.#tell({ kind: 'response-body', bytes }, moment)
        },
        ended: (moment) => this.#tell({ kind: 'response-end' }, moment),
      },
      {
        head: this.#head,
        change: ours.change?.(() => undefined),
        gatekeeper: () => this.#keeper(),
        disconnect: (why) => this.fail('wiretape', why),
        passed: () => this.#close('response'),
      },
    )
    this.#flows.response = flow
    this.#framed = this.#request.httpVersion !== '1.0'
    this.#sendHead(came, withoutHeader(ours.headers(), 'content-length'))
    if (this.#over) return
    this.#passHead(this.#response, flow)
    this.#tellResponse(came, moment)
    this.#leaves.push(this.#setting.gate.add(flow))
    for (const text of this.#extra) flow.inject(text)
    if (came.statusCode === 200) this.#leaves.push(this.#setting.talks.opened(flow, this.#head))
    if (came.destroyed) flow.salvage()
  }

  #showWhole(came: IncomingMessage, moment: ArrivalTime, ours: Answer): void {
    this.#tellResponse(came, moment)
    const body = showAnswer(came, ours, {
      ...this.#bounds(),
      head: this.#head,
      response: this.#response,
      extra: this.#extra,
      keeper: () => this.#keeper(),
      tell: this.#tell,
      isOver: () => this.#over,
      sendHead: (headers) => this.#sendHead(came, headers),
      passed: () => this.#close('response'),
      flowOn: () => {
        this.#flows.response = createBodyFlow(came, this.#response, this.#observerOf('response'))
        this.#leaves.push(this.#setting.gate.add(this.#flows.response))
      },
      answerOurselves: (how) => this.#answerOurselves(how),
      unseen: () => this.#tellUnseen(came),
    })
    this.#leaves.push(this.#setting.gate.add(body), () => body.stop())
  }

  #sendHead(came: IncomingMessage, headers: string[]): void {
    try {
      this.#response.writeHead(came.statusCode ?? 0, came.statusMessage ?? '', headers)
    } catch (error) {
      this.fail('wiretape', `the response cannot be forwarded: ${failureWords(error)}`, 502)
    }
  }

  /** Sends a head in the next tick, in one write with the first bytes of the body if they are there. */
  #passHead(message: OutgoingMessage, flow: BodyFlow): void {
    process.nextTick(() => {
      if (!this.#over) flushHead(message, flow)
    })
  }

  /** @param stream a response that the gatekeeper cannot see */
  #observerOf(side: 'request' | 'response', stream?: IncomingMessage): FlowObserver {
    return {
      chunk: (bytes, moment) => {
        if (stream) this.#tellUnseen(stream)
        this.#tell({ kind: `${side}-body`, bytes }, moment)
      },
      ended: (moment) => this.#ended(side, moment),
    }
  }

  #ended(side: 'request' | 'response', moment: ArrivalTime): void {
    this.#tell({ kind: `${side}-end` }, moment)
    this.#close(side)
  }

  #close(side: 'request' | 'response'): void {
    this.#open[side] = false
    if (!this.#open.request && !this.#open.response) this.#finish()
    else this.#checkHalf()
  }

  /** An upstream that has responded and closed its connection accepts no more of the request. */
  #checkHalf(): void {
    if (!this.#over && !this.#open.response && this.#onward?.destroyed) {
      this.fail('upstream', 'the server closed the connection before it had read the whole request')
    }
  }

  #upstreamBroke(error: Error): void {
    // A complete response is forwarded to its end.
    if (this.#over || (this.#answer?.complete && this.#open.response)) return this.#flows.request?.stop()
    if (!this.#clock?.reached || (isNotHttp(error) && !this.#response.headersSent)) {
      const why = isNotHttp(error) ? `the response is not HTTP: ${failureWords(error)}` : failureWords(error)
      return this.fail('upstream', why, 502)
    }
    if (!this.#open.response) return this.#checkHalf()
    const what = this.#answer ? 'the response was complete' : 'it responded'
    this.fail('upstream', `the server closed the connection before ${what}`)
  }

  /** Where no response is possible any more, the client's connection breaks, as the upstream's did. */
  fail(by: Breaker, why: string, status?: number): void {
    if (this.#over) return
    this.#finish()
    const moment = momentNow()
    this.#flows.request?.stop()
    this.#flows.response?.stop()
    this.#keeper()?.lost(this.#head, by === 'client' ? 'its client disconnected' : why)
    this.#request.resume()
    this.#onward?.destroy()
    const response = this.#response
    const { socket } = this.#request
    const answers = status !== undefined && !response.headersSent && !socket.destroyed
    if (answers)
      refuse(response, { why, status }, by === 'upstream' ? this.#route?.upstream.origin : undefined)
    else if (by !== 'client') {
      if (response.headersSent && this.#flows.response) flushHead(response, this.#flows.response)
      breakOff(socket, this.#framed)
    }
    if (this.#begun) this.#tell({ kind: 'failed', by, why, ...(answers ? { status } : {}) }, moment)
    if (!answers && by !== 'wiretape') this.#connection.running.each((other) => other.fail(by, why))
  }

  /** Reported once per exchange. */
  #tellUnseen(came: IncomingMessage): void {
    if (this.#unseen || !this.#keeper()?.wants(this.#head, 'answer')) return
    this.#unseen = true
    this.#keeper()?.unseen(this.#head, 'answer', whyUnseen(came))
  }

  #finish(): void {
    this.#over = true
    for (const leave of this.#leaves) leave()
  }
}
