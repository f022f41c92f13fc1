import type { ClientRequest, IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerOf, type AnswerRules } from './answer.js'
import { createBodyFlow, type BodyFlow } from './body-flow.js'
import { breakOff, type Breakable, type ClientConnection } from './client-connection.js'
import { failureWords, isNotHttp } from './failure-words.js'
import type { FloodGate } from './flood-gate.js'
import { momentNow, type Breaker, type HttpHappening, type Moment } from './http-event.js'
import { openUpstreamRequest, type UpstreamRoute } from './upstream-request.js'

/** Where a request goes, and what is changed in its answer. */
export interface Route extends UpstreamRoute {
  /** Told of the request instead of what it asks for, where a proxy has many upstreams. */
  readonly target?: { readonly path: string; readonly origin: string }
  /** Nothing is changed without them. */
  readonly answer?: AnswerRules
}

/** Why a request goes nowhere. */
export interface Refusal {
  /** As a sentence. */
  readonly why: string
  readonly status: number
}

/** What all exchanges of a proxy have in common. */
export interface Setting {
  readonly gate: FloodGate
  readonly onUpstreamSocket: (socket: Socket) => void
  route(request: IncomingMessage, connection: ClientConnection): Route | Refusal
}

const nothing = Buffer.alloc(0)

type Tell = (happening: HttpHappening, moment: Moment) => void

/** Carries one request to the upstream and its answer back. Ends by itself, or with its connection. */
export function startExchange(
  request: IncomingMessage,
  response: ServerResponse,
  connection: ClientConnection,
  setting: Setting,
  tell: Tell,
): void {
  const { gate } = setting
  const came = momentNow()
  let route: Route | undefined
  let onward: ClientRequest | undefined
  let answer: IncomingMessage | undefined
  let reached = false
  let framed = true
  let begun = false
  let over = false
  const flows: { request?: BodyFlow; response?: BodyFlow } = {}
  const leaves: (() => void)[] = []
  const open = { request: true, response: true }

  const self: Breakable = { fail: (by, why) => fail(by, why) }
  leaves.push(connection.running.add(self))
  // Their connection tells all that these could.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  gate.pass(begin)

  function begin(): void {
    if (over) return
    begun = true
    const { method = 'GET', url = '/', rawHeaders: headers } = request
    const found = refusalOf(request) ?? setting.route(request, connection)
    let refusedBySelf: unknown
    if (!('why' in found)) {
      route = found
      try {
        onward = openUpstreamRequest(request, route)
      } catch (error) {
        refusedBySelf = error
      }
    }
    if (onward) {
      listenTo(onward, route!)
      flows.request = createBodyFlow(request, onward, {
        chunk: (bytes, moment) => tell({ kind: 'request-body', bytes }, moment),
        ended: (moment) => ended('request', moment),
      })
      leaves.push(gate.add(flows.request))
      passHead(onward, flows.request)
    }
    const target = route?.target ?? { path: url }
    tell({ kind: 'request', connection: connection.number, method, headers, ...target }, came)
    if ('why' in found) return fail('wiretape', found.why, found.status)
    if (!onward) fail('wiretape', `it cannot be sent on: ${failureWords(refusedBySelf)}`, 502)
  }

  function listenTo(onward: ClientRequest, { upstream }: Route): void {
    onward.on('socket', (socket) => {
      setting.onUpstreamSocket(socket)
      const secured = upstream.protocol === 'https:' ? 'secureConnect' : 'connect'
      // Whatever it read, it read for an exchange before this one.
      if (socket.bytesRead > 0) reached = true
      else socket.once(secured, () => (reached = true))
    })
    onward.on('continue', () => {
      if (!over && !response.headersSent) response.writeContinue()
    })
    onward.on('information', ({ statusCode, statusMessage, rawHeaders }) => {
      // Only the answer whose turn it is has a socket. Informational answers may be left out.
      if (over || statusCode === 100 || response.headersSent || !response.socket) return
      const lines = rawHeaders.map((word, n) => (n % 2 === 0 ? `${word}: ` : `${word}\r\n`)).join('')
      response.socket.write(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines}\r\n`, 'latin1')
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

  function respond(came: IncomingMessage, moment: Moment): void {
    if (over) return
    const { statusCode: status = 0, rawHeaders: headers } = came
    const ours = answerOf(request, came, route?.answer)
    framed = ours.framed
    response.sendDate = false
    const respondHead = (sizeBytes?: number): void => {
      try {
        response.writeHead(status, came.statusMessage ?? '', ours.headers(sizeBytes))
      } catch (error) {
        fail('wiretape', `the answer cannot be sent on: ${failureWords(error)}`, 502)
      }
    }
    const observer = {
      chunk: (bytes: Buffer, moment: Moment) => tell({ kind: 'response-body', bytes }, moment),
      ended: (moment: Moment) => ended('response', moment),
    }
    flows.response = createBodyFlow(came, response, observer, ours.change?.(respondHead))
    if (!ours.waits) respondHead()
    if (over) return
    if (!ours.waits) passHead(response, flows.response)
    tell({ kind: 'response', status, headers }, moment)
    leaves.push(gate.add(flows.response))
    // It broke while it had to wait.
    if (came.destroyed) flows.response.salvage()
  }

  /** Sends a head at once: with what of the body came together with it, in one write, else alone. */
  function passHead(message: OutgoingMessage, flow: BodyFlow): void {
    process.nextTick(() => {
      if (!over) flushHead(message, flow)
    })
  }

  function flushHead(message: OutgoingMessage, flow: BodyFlow): void {
    // Not flushHeaders(), which sends values that are not ASCII as UTF-8.
    if (!flow.hasBegun()) message.write(nothing)
  }

  function ended(side: 'request' | 'response', moment: Moment): void {
    open[side] = false
    tell({ kind: `${side}-end` }, moment)
    if (!open.request && !open.response) finish()
    else checkHalf()
  }

  /** An upstream that has answered and left takes nothing more. */
  function checkHalf(): void {
    if (!over && !open.response && onward?.destroyed) {
      fail('upstream', 'it closed its connection before it had taken the whole request')
    }
  }

  function upstreamBroke(error: Error): void {
    // An answer that is there to its end is passed on to its end.
    if (over || (answer?.complete && open.response)) return flows.request?.stop()
    if (!reached || (isNotHttp(error) && !response.headersSent)) {
      const why = isNotHttp(error) ? `its answer is not HTTP: ${failureWords(error)}` : failureWords(error)
      return fail('upstream', why, 502)
    }
    if (!open.response) return checkHalf()
    fail(
      'upstream',
      `it closed its connection ${answer ? 'before its answer was complete' : 'before it answered'}`,
    )
  }

  /** Where nothing can be answered any more, the client's connection breaks, as the upstream's did. */
  function fail(by: Breaker, why: string, status?: number): void {
    if (over) return
    finish()
    const moment = momentNow()
    flows.request?.stop()
    flows.response?.stop()
    request.resume()
    onward?.destroy()
    const answers = status !== undefined && !response.headersSent && !request.socket.destroyed
    if (answers) refuse(by, why, status)
    else if (by !== 'client') {
      if (response.headersSent && flows.response) flushHead(response, flows.response)
      breakOff(request.socket, framed)
    }
    if (begun) tell({ kind: 'failed', by, why, ...(answers ? { status } : {}) }, moment)
    if (!answers && by !== 'wiretape') connection.running.each((other) => other.fail(by, why))
  }

  function refuse(by: Breaker, why: string, status: number): void {
    const what =
      by === 'upstream' && route
        ? `cannot get an answer from ${route.upstream.origin}`
        : 'does not pass this request on'
    const text = `wiretape ${what}: ${why}.\n`
    response.sendDate = false
    response.writeHead(status, [
      'Content-Type',
      'text/plain; charset=utf-8',
      'Content-Length',
      String(Buffer.byteLength(text)),
    ])
    response.end(text)
  }

  function finish(): void {
    over = true
    for (const leave of leaves) leave()
  }
}

function refusalOf(request: IncomingMessage): Refusal | undefined {
  // Other upgrades (h2c) are offers, which the upstream may ignore; without this one nothing is left to say.
  if (/\bwebsocket\b/i.test(request.headers.upgrade ?? '')) {
    return { why: 'WebSocket connections are not passed on', status: 501 }
  }
  return undefined
}
