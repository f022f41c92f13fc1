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

/** A page sends this header with the value 1. No form and no simple request of another site can have it. */
export const actingHeader = 'x-wiretape-act'

/** Screens that pages have at one time. */
const mostChannels = 16

/** What a page may ask for. `rules` only takes a file that was in force before; `inject` only sends to the server. */
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
  /** Rules files that were in force while it was open. */
  readonly rules: Set<string>
}

/** Pages that act on live captures. Each has an attachment of its own, which ends with its stream of events. */
export interface Acting {
  /**
   * Answers with a stream of lines: `{"type":"channel","id":…}`, then what the capture says. Of the records it only gets the
   * progress of requests of a page, as `{"type":"progress","text":…}`.
   */
  open(connection: CaptureConnection, response: ServerResponse): Promise<void>
  /** Lists and changes the rules of the capture. */
  rules(channel: string, request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Carries out the command in the body of a request; answers with the reply of the control protocol. */
  command(channel: string, request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** Why a request may not act; the token is checked elsewhere. */
export function whyNoAct({ method, headers }: IncomingMessage): Denial {
  if (headers[actingHeader] !== '1') return { status: 403, why: `the header ${actingHeader} is missing` }
  const own = `http://${headers.host ?? ''}`
  // A browser names no origin when a page gets something from its own server.
  if (headers.origin === undefined ? method !== 'GET' : headers.origin !== own)
    return {
      status: 403,
      why: 'the request comes from a page of another site, or its Origin header is missing',
    }
  if (method === 'POST' && headers['content-type'] !== 'application/json')
    return { status: 415, why: 'a command must be sent as application/json' }
  return undefined
}

/** @param rulesFolder for the rules of captures that have no file of rules */
export function createActing(rulesFolder: string | undefined): Acting {
  const channels = new Map<string, Channel>()
  return {
    async open(connection, response) {
      if (channels.size >= mostChannels) {
        connection.close()
        return fail(response, 503, 'too many pages are attached')
      }
      // The page went away while the capture was looked up.
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

/** Ids of requests, and tokens of their progress, that pages give begin so. */
const ownToken = '"progressToken":"wiretape-ui-'

/** Progress of a request that a page sent. @param line of the tape */
function progressIn(line: string): { readonly type: 'progress'; readonly text: string } | undefined {
  if (!line.includes(ownToken) || !line.includes('notifications/progress')) return undefined
  const text = new JsonObject(line, 0).raw('raw')
  return text === undefined ? undefined : { type: 'progress', text }
}

function remember({ rules }: Channel, event: ServerEvent): void {
  if (event.type !== 'state' || !event.state.rules) return
  // The last one is in force.
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
    return 'a page may turn on only rules that were in force before'
  return undefined
}

function refused(id: number | null, error: Failure): Reply {
  return { type: 'reply', id, ok: false, error }
}
