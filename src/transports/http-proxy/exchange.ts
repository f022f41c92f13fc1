import type { ClientRequest, IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http'
import { answerOf, type Answer } from './answer.js'
import { withoutContentCoding } from '../content-coding.js'
import { createBodyFlow, type BodyFlow, type FlowObserver } from './body-flow.js'
import { breakOff, type Breakable, type ClientConnection } from './client-connection.js'
import { createEventFlow } from './event-flow.js'
import { createEndpointWatch } from './endpoint-watch.js'
import { failureWords, isNotHttp } from './failure-words.js'
import type { ExchangeHead, Gatekeeper, Passing } from './gatekeeper.js'
import {
  momentNow,
  type Breaker,
  type HttpHappening,
  type ArrivalTime,
  type RawHeaders,
} from './http-event.js'
import { passInformation } from './information.js'
import { PhaseClock } from './phases.js'
import { refusalOf, refuse } from './refusal.js'
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

const nothing = Buffer.alloc(0)

type Tell = (happening: HttpHappening, moment: ArrivalTime) => void

/**
 * Forwards one request to the upstream and its response back. Ends by itself, or with its connection.
 *
 * @param ownPrefix first part of the path by which the client reaches us, already removed from `request.url`
 */
export function startExchange(
  request: IncomingMessage,
  response: ServerResponse,
  connection: ClientConnection,
  setting: Setting,
  number: number,
  tell: Tell,
  ownPrefix = '',
): void {
  const { gate } = setting
  const came = momentNow()
  const { method = 'GET', url = '/', rawHeaders: headers } = request
  const { number: connectionNumber } = connection
  const place = { exchange: number, connection: connectionNumber, method, path: url, headers }
  let head: ExchangeHead = { ...place, conversation: '' }
  const keeper = (): Gatekeeper | undefined => setting.gatekeeper?.()
  let route: Route | undefined
  let onward: ClientRequest | undefined
  let clock: PhaseClock | undefined
  let answer: IncomingMessage | undefined
  let reached = false
  let framed = true
  let begun = false
  /** We have sent the 100 response ourselves. */
  let continued = false
  let over = false
  let unseen = false
  /** Our own responses to parts of a batch, which the client gets together with the upstream's response. */
  let extra: readonly string[] = []
  const flows: { request?: BodyFlow; response?: BodyFlow } = {}
  const leaves: (() => void)[] = []
  const open = { request: true, response: true }

  const self: Breakable = { fail: (by, why) => fail(by, why) }
  leaves.push(connection.running.add(self))
  // The connection reports all of these errors too.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  gate.pass(begin)

  function begin(): void {
    if (over) return
    begun = true
    const found = refusalOf(request) ?? setting.route(request, connection)
    let refusedBySelf: unknown
    const isPost = method === 'POST' && isJson(request)
    if (!('why' in found)) {
      route = found
      const placed = { ...place, ...found.target }
      head = { ...placed, conversation: setting.talks.conversationOf(placed) }
      if (isPost) setting.talks.posted(head)
    }
    const isWanted = route !== undefined && hasBody(request) && keeper()?.wants(head, 'request') === true
    // `Expect: 100-continue` is a question to the upstream, unless the body is certain to be a message.
    const shown = isWanted && (isPost || request.headers.expect === undefined)
    if (route && !shown) {
      try {
        onward = openUpstreamRequest(request, route)
      } catch (error) {
        refusedBySelf = error
      }
    }
    if (onward) {
      listenTo(onward, route!)
      flows.request = createBodyFlow(request, onward, observerOf('request'))
      leaves.push(gate.add(flows.request))
      passHead(onward, flows.request)
    }
    const target = route?.target ?? { path: url }
    tell({ kind: 'request', connection: connection.number, method, headers, ...target }, came)
    if ('why' in found) return fail('wiretape', found.why, found.status)
    if (shown) return showRequest()
    if (isWanted && method === 'POST')
      keeper()?.unseen(head, 'request', 'a body that is sent only after a 100 response')
    if (!onward) fail('wiretape', `the request cannot be forwarded: ${failureWords(refusedBySelf)}`, 502)
  }

  /** Reads the whole body and shows it to the gatekeeper before anything is forwarded. */
  function showRequest(): void {
    // A client that waits for a 100 response sends no body before it.
    if (request.headers.expect !== undefined) response.writeContinue()
    continued = true
    const body = collectBody(request, {
      ...bounds(),
      chunk: (bytes, moment) => tell({ kind: 'request-body', bytes }, moment),
      whole(bytes, moment) {
        const decoded = withoutContentCoding(bytes, request.headers['content-encoding'])
        if (!decoded) keeper()?.unseen(head, 'request', whyUnseen(request))
        const passing = decoded && keeper()?.request(head, decoded)
        ended('request', moment)
        if (!passing) return sendOn(bytes)
        void passing.then((how) => {
          if (over) return
          if (how.kind !== 'forward') return answerOurselves(how)
          extra = how.answers ?? []
          sendOn(how.body ?? bytes, how.headers && withoutHeader(how.headers, 'content-encoding'))
        })
      },
      passOn(chunks, why) {
        if (why !== undefined) keeper()?.unseen(head, 'request', why)
        if (!openOnward()) return
        for (const bytes of chunks) onward!.write(bytes)
        flows.request = createBodyFlow(request, onward!, observerOf('request'))
        leaves.push(gate.add(flows.request))
      },
    })
    leaves.push(gate.add(body), () => body.stop())
  }

  /** Limits for a body that is read whole. */
  function bounds(): Pick<BodyReader, 'room' | 'mustWait'> {
    return { room: setting.room, mustWait: (goOn) => keeper()?.mustWait(head, goOn) ?? false }
  }

  function openOnward(changed?: RawHeaders): boolean {
    try {
      onward = openUpstreamRequest({ method, rawHeaders: changed ?? headers }, route!)
    } catch (error) {
      fail('wiretape', `the request cannot be forwarded: ${failureWords(error)}`, 502)
      return false
    }
    listenTo(onward, route!)
    return true
  }

  function sendOn(bytes: Uint8Array, changed?: RawHeaders): void {
    if (openOnward(changed)) onward!.end(bytes)
  }

  /** Answers in place of the upstream, which did not get the request, or whose response is dropped. */
  function answerOurselves(how: Exclude<Passing, { kind: 'forward' }>): void {
    if (how.kind === 'disconnect') return fail('wiretape', how.why)
    finish()
    const { status, body, why } = how
    response.sendDate = false
    const type = body ? ['Content-Type', 'application/json'] : []
    response.writeHead(status, [...type, 'Content-Length', String(body?.length ?? 0)])
    response.end(body)
    onward?.destroy()
    tell({ kind: 'failed', by: 'wiretape', why, status }, momentNow())
  }

  function listenTo(onward: ClientRequest, { upstream }: Route): void {
    const phases = new PhaseClock()
    clock = phases
    onward.on('socket', (socket) => {
      setting.onUpstreamSocket(socket)
      phases.connection(onward, socket, upstream.protocol === 'https:')
      const secured = upstream.protocol === 'https:' ? 'secureConnect' : 'connect'
      // Bytes already read belong to a previous exchange.
      if (socket.bytesRead > 0) reached = true
      else socket.once(secured, () => (reached = true))
    })
    onward.on('continue', () => {
      if (!over && !response.headersSent && !continued) response.writeContinue()
    })
    onward.on('information', (information) => {
      if (!over) passInformation(response, information)
    })
    onward.on('response', (came) => {
      answer = came
      const moment = momentNow()
      came.on('aborted', () => flows.response?.salvage())
      came.on('error', (error) => gate.pass(() => upstreamBroke(error)))
      gate.pass(() => respond(came, moment))
    })
    onward.on('error', (error) => gate.pass(() => upstreamBroke(error)))
    onward.on('close', () => gate.pass(checkHalf))
  }

  function responseOf(came: IncomingMessage, { atMs }: ArrivalTime): HttpHappening {
    const { statusCode: status = 0, rawHeaders: headers } = came
    const phases = clock?.phases(atMs)
    return { kind: 'response', status, headers, ...(phases && { phases }) }
  }

  function respond(came: IncomingMessage, moment: ArrivalTime): void {
    if (over) return
    const ours = answerOf(request, came, route?.answer, ownPrefix)
    framed = ours.framed
    response.sendDate = false
    const respondHead = (sizeBytes?: number): void => sendHead(came, ours.headers(sizeBytes))
    const { 'mcp-session-id': session } = came.headers
    if (typeof session === 'string') setting.talks.begin(session, head)
    // Bodies with messages, as the recorder sees them: events, and any other body that is JSON.
    const wanted =
      !ours.waits && method !== 'HEAD' && hasBody(came) && keeper()?.wants(head, 'answer') === true
    const stream = isStream(came)
    if (hasEvents(came, wanted)) return respondEvents(came, moment, ours)
    if (joins(came, extra) || (wanted && !stream)) return showWhole(came, moment, ours)
    const observer = {
      chunk: (bytes: Buffer, moment: ArrivalTime) => {
        if (stream) tellUnseen(came)
        tell({ kind: 'response-body', bytes }, moment)
      },
      ended: (moment: ArrivalTime) => ended('response', moment),
    }
    flows.response = createBodyFlow(came, response, observer, ours.change?.(respondHead))
    if (!ours.waits) respondHead()
    if (over) return
    if (!ours.waits) passHead(response, flows.response)
    tell(responseOf(came, moment), moment)
    leaves.push(gate.add(flows.response))
    // The response broke while it had to wait.
    if (came.destroyed) flows.response.salvage()
  }

  function respondEvents(came: IncomingMessage, moment: ArrivalTime, ours: Answer): void {
    const watch = createEndpointWatch((endpoint) => setting.talks.pointed(endpoint, head))
    const flow = createEventFlow(
      came,
      response,
      {
        chunk(bytes, moment) {
          if (method === 'GET') watch(bytes)
          tell({ kind: 'response-body', bytes }, moment)
        },
        ended: (moment) => tell({ kind: 'response-end' }, moment),
      },
      {
        head,
        change: ours.change?.(() => undefined),
        gatekeeper: keeper,
        disconnect: (why) => fail('wiretape', why),
        passed: () => close('response'),
      },
    )
    flows.response = flow
    framed = request.httpVersion !== '1.0'
    sendHead(came, withoutHeader(ours.headers(), 'content-length'))
    if (over) return
    passHead(response, flow)
    tell(responseOf(came, moment), moment)
    leaves.push(gate.add(flow))
    for (const text of extra) flow.inject(text)
    if (came.statusCode === 200) leaves.push(setting.talks.opened(flow, head))
    if (came.destroyed) flow.salvage()
  }

  function showWhole(came: IncomingMessage, moment: ArrivalTime, ours: Answer): void {
    tell(responseOf(came, moment), moment)
    const body = showAnswer(came, ours, {
      ...bounds(),
      head,
      response,
      extra,
      keeper,
      tell,
      isOver: () => over,
      sendHead: (headers) => sendHead(came, headers),
      passed: () => close('response'),
      flowOn() {
        flows.response = createBodyFlow(came, response, observerOf('response'))
        leaves.push(gate.add(flows.response))
      },
      answerOurselves,
      unseen: () => tellUnseen(came),
    })
    leaves.push(gate.add(body), () => body.stop())
  }

  function sendHead(came: IncomingMessage, headers: string[]): void {
    try {
      response.writeHead(came.statusCode ?? 0, came.statusMessage ?? '', headers)
    } catch (error) {
      fail('wiretape', `the response cannot be forwarded: ${failureWords(error)}`, 502)
    }
  }

  /** Sends a head in the next tick, in one write with the first bytes of the body if they are there. */
  function passHead(message: OutgoingMessage, flow: BodyFlow): void {
    process.nextTick(() => {
      if (!over) flushHead(message, flow)
    })
  }

  function flushHead(message: OutgoingMessage, flow: BodyFlow): void {
    // Not flushHeaders(), which sends values that are not ASCII as UTF-8.
    if (!flow.hasBegun()) message.write(nothing)
  }

  function observerOf(side: 'request' | 'response'): FlowObserver {
    return {
      chunk: (bytes, moment) => tell({ kind: `${side}-body`, bytes }, moment),
      ended: (moment) => ended(side, moment),
    }
  }

  function ended(side: 'request' | 'response', moment: ArrivalTime): void {
    tell({ kind: `${side}-end` }, moment)
    close(side)
  }

  function close(side: 'request' | 'response'): void {
    open[side] = false
    if (!open.request && !open.response) finish()
    else checkHalf()
  }

  /** An upstream that has responded and closed its connection accepts no more of the request. */
  function checkHalf(): void {
    if (!over && !open.response && onward?.destroyed) {
      fail('upstream', 'the server closed the connection before it had read the whole request')
    }
  }

  function upstreamBroke(error: Error): void {
    // A complete response is forwarded to its end.
    if (over || (answer?.complete && open.response)) return flows.request?.stop()
    if (!reached || (isNotHttp(error) && !response.headersSent)) {
      const why = isNotHttp(error) ? `the response is not HTTP: ${failureWords(error)}` : failureWords(error)
      return fail('upstream', why, 502)
    }
    if (!open.response) return checkHalf()
    fail(
      'upstream',
      `the server closed the connection before ${answer ? 'the response was complete' : 'it responded'}`,
    )
  }

  /** Where no response is possible any more, the client's connection breaks, as the upstream's did. */
  function fail(by: Breaker, why: string, status?: number): void {
    if (over) return
    finish()
    const moment = momentNow()
    flows.request?.stop()
    flows.response?.stop()
    keeper()?.lost(head, by === 'client' ? 'its client disconnected' : why)
    request.resume()
    onward?.destroy()
    const answers = status !== undefined && !response.headersSent && !request.socket.destroyed
    if (answers) refuse(response, { why, status }, by === 'upstream' ? route?.upstream.origin : undefined)
    else if (by !== 'client') {
      if (response.headersSent && flows.response) flushHead(response, flows.response)
      breakOff(request.socket, framed)
    }
    if (begun) tell({ kind: 'failed', by, why, ...(answers ? { status } : {}) }, moment)
    if (!answers && by !== 'wiretape') connection.running.each((other) => other.fail(by, why))
  }

  /** Reported once per exchange. */
  function tellUnseen(came: IncomingMessage): void {
    if (unseen || !keeper()?.wants(head, 'answer')) return
    unseen = true
    keeper()?.unseen(head, 'answer', whyUnseen(came))
  }

  function finish(): void {
    over = true
    for (const leave of leaves) leave()
  }
}
