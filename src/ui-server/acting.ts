import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  decodeClientLine,
  isLineFault,
  type Command,
  type Failure,
  type Reply,
  type ServerEvent,
} from '../control-schema/index.js'
import { Refusal, type CaptureConnection } from '../control/index.js'
import type { Refusal as Denial } from './guard.js'
import { JsonObject } from '../wire/index.js'
import { answerRules } from './acting-rules.js'
import { bodyOf, refuse as fail } from './replies.js'
import { writeAtPace } from './send-file.js'

/** Pages send this header with the value 1. Forms and simple requests of other sites cannot set it. */
const actingHeader = 'x-wiretape-act'

/** Concurrent screens of pages. */
const mostChannels = 16

/** Commands allowed to a page. `rules` accepts only a file that was in force before; `inject` sends only to the server. */
const allowed: ReadonlySet<Command['type']> = new Set([
  'hold',
  'breakpoints',
  'forward',
  'forward-all',
  'edit',
  'drop',
  'answer',
  'inject',
  'replay',
  'rules',
  'annotate',
  'reload',
])

interface Channel {
  readonly connection: CaptureConnection
  /** Rules files in force since it was opened. */
  readonly rules: Set<string>
}

/** Pages that act on live captures. Each has its own attachment, which ends with its event stream. */
export interface Acting {
  /**
   * Responds with a stream of lines: `{"type":"channel","id":…}`, then the events of the capture. Of its records, only
   * progress of a page's requests is sent, as `{"type":"progress","text":…}`.
   */
  open(connection: CaptureConnection, response: ServerResponse): Promise<void>
  /** Lists and changes the rules of the capture. */
  rules(channel: string, request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Runs the command in a request body; responds with the reply of the control protocol. */
  command(channel: string, request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** Why a request must not act; the token is checked elsewhere. */
export function whyNoAct({ method, headers }: IncomingMessage): Denial {
  if (headers[actingHeader] !== '1') return { status: 403, why: `the header ${actingHeader} is missing` }
  const own = `http://${headers.host ?? ''}`
  // Browsers send no Origin with a same-origin GET.
  if (headers.origin === undefined ? method !== 'GET' : headers.origin !== own)
    return {
      status: 403,
      why: 'the request comes from a page of another site, or its Origin header is missing',
    }
  if (method === 'POST' && headers['content-type'] !== 'application/json')
    return { status: 415, why: 'commands must be sent as application/json' }
  return undefined
}

/** @param rulesFolder for rules of captures without a rules file */
export function createActing(rulesFolder: string | undefined): Acting {
  const channels = new Map<string, Channel>()
  return {
    async open(connection, response) {
      if (channels.size >= mostChannels) {
        connection.close()
        return fail(response, 503, 'too many pages are attached')
      }
      // The page closed during the look-up of the capture.
      if (response.destroyed) return connection.close()
      const id = randomBytes(16).toString('base64url')
      const channel: Channel = { connection, rules: new Set() }
      channels.set(id, channel)
      response.once('close', () => {
        channels.delete(id)
        connection.close()
      })
      response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8')
      response.writeHead(200)
      const { label, transport } = connection.hello
      response.write(`${JSON.stringify({ type: 'channel', id, label, transport })}\n`)
      await connection.send({ type: 'subscribe', from: 'now' })
      for await (const event of connection.events) {
        remember(channel, event)
        const told = event.type === 'record' ? progressIn(event.line) : event
        if (told && !response.destroyed) await writeAtPace(response, `${JSON.stringify(told)}\n`)
      }
      response.end()
    },
    async rules(id, request, response) {
      const channel = channels.get(id)
      if (!channel || rulesFolder === undefined) return fail(response, 404, 'this page is no longer attached')
      const inForce = [...channel.rules].at(-1)
      await answerRules(request, response, channel.connection, { inForce, folder: rulesFolder })
    },
    async command(id, request, response) {
      const channel = channels.get(id)
      if (!channel) return fail(response, 404, 'this page is no longer attached')
      const text = await bodyOf(request)
      if (text === undefined) return fail(response, 413, 'the command is too long')
      const reply = await carryOut(text, channel)
      response.setHeader('Content-Type', 'application/json; charset=utf-8')
      response.writeHead(200)
      response.end(JSON.stringify(reply))
    },
  }
}

/** Prefix of request ids and progress tokens from pages. */
const ownToken = '"progressToken":"wiretape-ui-'

/** Progress of a page's request. @param line of the tape */
function progressIn(line: string): { readonly type: 'progress'; readonly text: string } | undefined {
  if (!line.includes(ownToken) || !line.includes('notifications/progress')) return undefined
  const text = new JsonObject(line, 0).raw('raw')
  return text === undefined ? undefined : { type: 'progress', text }
}

function remember({ rules }: Channel, event: ServerEvent): void {
  if (event.type !== 'state' || !event.state.rules) return
  // The last file is in force.
  rules.delete(event.state.rules.file)
  rules.add(event.state.rules.file)
}

async function carryOut(text: string, channel: Channel): Promise<Reply> {
  const command = decodeClientLine(text)
  if (isLineFault(command)) return refused(command.id, { code: 'invalid', message: command.fault })
  if (command.type === 'hello')
    return refused(null, { code: 'invalid', message: 'a page must not send hello' })
  const { id, ...body } = command
  const why = whyNotAllowed(command, channel)
  if (why !== undefined) return refused(id, { code: 'invalid', message: why })
  try {
    return { type: 'reply', id, ok: true, result: await channel.connection.send(body) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return refused(id, error.failure)
  }
}

function whyNotAllowed(command: Command, { rules }: Channel): string | undefined {
  if (!allowed.has(command.type)) return `a page cannot ${command.type}`
  if (command.type === 'inject' && (command.direction !== 'client_to_server' || command.answer === 'pass'))
    return 'a page may send only to the server, and must keep the response'
  if (command.type === 'rules' && command.file !== null && !rules.has(command.file))
    return 'a page may only turn on rules that were active before'
  return undefined
}

function refused(id: number | null, error: Failure): Reply {
  return { type: 'reply', id, ok: false, error }
}
