import { failureOf } from '../compare/index.js'
import { WiretapeError } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { findJsonValue, isFault, readEnvelope, spliceText } from '../wire/index.js'
import { defaultAnswer } from './answer-question.js'
import { clientFrame } from './client-frame.js'
import { initialized, newestLegacy } from './handshake.js'
import { askLive, openLive, type Connect, type LiveConnection } from './live-connection.js'
import type { SetValue } from './live-values.js'

/** One request: a new one, or one that was recorded. */
export type CallRequest =
  | {
      readonly method: string
      /** Exact JSON text of an object. */
      readonly params: string
    }
  | {
      /** Exact JSON text of the whole request. */
      readonly text: string
    }

/** Exact text of the answer, or why there is none. */
export type CallOutcome = { readonly answer: string } | { readonly error: string }

const modern = '2026-07-28'
const clientInfo = { name: 'wiretape-call', version: '1' }

/** A server that was greeted. */
export interface GreetedServer {
  /** Speaks 2026-07-28, without `initialize`. */
  readonly isModern: boolean
  ask(request: CallRequest): Promise<CallOutcome>
}

/** A connection to a server that was greeted. */
export interface OpenServer extends GreetedServer {
  /** Why the server is gone. */
  readonly ended: string | undefined
  close(): Promise<void>
}

interface CallTimes {
  /** For each answer. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Opens a connection, makes one request and closes it. A recorded request of 2026-07-28 is sent as it stands; for others
 * the server is greeted with `initialize`, and spoken to as 2026-07-28 asks when it refuses that.
 */
export async function callOnce(
  connect: Connect,
  request: CallRequest,
  times: CallTimes,
): Promise<CallOutcome> {
  const needsNoGreeting = 'text' in request && readEnvelope(request.text, 0).modern
  return withServer(connect, { ...times, isGreeted: !needsNoGreeting }, (server) => server.ask(request))
}

/** Opens a connection, greets the server, lets `use` ask it one request after the other, and closes the connection. */
export async function withServer<T>(
  connect: Connect,
  times: CallTimes & { readonly isGreeted?: boolean },
  use: (server: GreetedServer) => Promise<T>,
): Promise<T | { readonly error: string }> {
  const server = await openServer(connect, times)
  if ('error' in server) return server
  try {
    return await use(server)
  } finally {
    await server.close()
  }
}

/** Opens a connection and greets the server. */
export async function openServer(
  connect: Connect,
  { timeoutMs, signal, isGreeted = true }: CallTimes & { readonly isGreeted?: boolean },
): Promise<OpenServer | { readonly error: string }> {
  let live: LiveConnection | undefined
  const nothing = (): void => undefined
  const opened = await openLive(
    connect,
    { timeoutMs, signal },
    {
      // What the server asks meanwhile is refused: nobody is there to answer.
      question: (_text, envelope) => {
        const answer = defaultAnswer(envelope, 'error')
        live?.send(clientFrame(answer, [answer])).catch(nothing)
      },
      notification: nothing,
      noise: nothing,
      stray: nothing,
      nameless: nothing,
      ended: nothing,
    },
  )
  if ('error' in opened) return opened
  live = opened
  let greeted
  try {
    greeted = isGreeted ? await greet(opened, timeoutMs, signal) : { isModern: true }
  } catch (error) {
    await opened.close()
    throw error
  }
  if ('error' in greeted) {
    await opened.close()
    return greeted
  }
  const { isModern } = greeted
  let id = 0
  return {
    isModern,
    get ended() {
      return opened.ended
    },
    async ask(request) {
      if (opened.ended !== undefined) return { error: opened.ended }
      const text = 'text' in request ? request.text : newRequest(request, (id += 1), isModern)
      const frame = clientFrame(text, [text])
      const result = await askLive(opened, frame, readEnvelope(text, 0).id ?? 'null', timeoutMs, signal)
      return 'text' in result ? { answer: result.text } : { error: result.error }
    },
    close: () => opened.close(),
  }
}

async function greet(
  live: LiveConnection,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly isModern: boolean } | { readonly error: string }> {
  const id = '"wiretape-initialize"'
  const params = JSON.stringify({ protocolVersion: newestLegacy, capabilities: {}, clientInfo })
  const text = `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":${params}}`
  const result = await askLive(live, clientFrame(text, [text]), id, timeoutMs, signal)
  if (!('text' in result)) return { error: `initialize: ${result.error}` }
  if (failureOf(result.text) !== undefined) return { isModern: true }
  await live.send(initialized)
  return { isModern: false }
}

function newRequest(
  { method, params }: { method: string; params: string },
  id: number,
  isModern: boolean,
): string {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': modern,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const rest = params.trimStart().slice(1)
  const separator = rest.trimStart() === '}' ? '' : ','
  const whole = isModern ? `{"_meta":${JSON.stringify(meta)}${separator}${rest}` : params
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${whole}}`
}

/**
 * A recorded request with other values in it.
 *
 * @throws WiretapeError `usage` for a place that it does not have, and for what was redacted and is not given
 */
export function setValues(text: string, sets: readonly SetValue[]): string {
  let made = text
  for (const { path, name, json } of sets) {
    const whole = findJsonValue(made)
    const places = isFault(whole) ? [] : path.find(made, whole)
    if (places.length === 0)
      throw new WiretapeError('usage', `--set ${name}: the request has no such place`, {
        hint: 'a path begins at the message: $.params.arguments.q',
      })
    made = spliceText(
      made,
      places.map(({ start, end }) => ({ start, end, text: json })),
    )
  }
  if (made.includes(redactionMarker))
    throw new WiretapeError('usage', 'redaction took a value out of the recorded request', {
      hint: "give it with --set '$.params.arguments.NAME=${VARIABLE}'",
    })
  return made
}
