import { failureOf } from '../compare/index.js'
import { WiretapeError } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import type { Envelope } from '../model/index.js'
import { jsonIn, JsonObject, memberOf, membersOf, readEnvelope, spliceText } from '../wire/index.js'
import { clientFrame } from './client-frame.js'
import { defaultAnswer } from './default-answer.js'
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

/** Exact text of the response, or why there is none. */
export type CallOutcome = { readonly answer: string } | { readonly error: string }

const modern = '2026-07-28'
const clientInfo = { name: 'wiretape-call', version: '1' }

/** A server after its handshake. */
export interface GreetedServer {
  /** Uses 2026-07-28, without `initialize`. */
  readonly isModern: boolean
  /** Exact text of the response to `initialize`, where it was sent. */
  readonly greeting?: string
  /** @param cancel cancels the request and notifies the server */
  ask(request: CallRequest, cancel?: AbortSignal): Promise<CallOutcome>
  /** Sends a response or a notification. */
  tell(text: string): Promise<void>
}

/** A client beside its requests. @default no capabilities; requests of the server are refused */
export interface ClientRole {
  /** Exact JSON text of an object, for `initialize` and for each request of 2026-07-28. */
  readonly capabilities: { readonly legacy: string; readonly modern: string }
  /** A request of the server; respond with `tell`. */
  question(text: string, envelope: Envelope): void
  notification(text: string): void
  ended(reason: string): void
}

/** A connection to a server after its handshake. */
export interface OpenServer extends GreetedServer {
  /** Why the connection ended. */
  readonly ended: string | undefined
  close(): Promise<void>
}

interface CallTimes {
  /** For each response. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Opens a connection, makes one request and closes it. A recorded request of 2026-07-28 is sent unchanged. For others
 * the server gets `initialize` first; if it refuses that, requests follow 2026-07-28.
 */
export async function callOnce(
  connect: Connect,
  request: CallRequest,
  times: CallTimes,
): Promise<CallOutcome> {
  const needsNoGreeting = 'text' in request && readEnvelope(request.text, 0).modern
  return withServer(connect, { ...times, isGreeted: !needsNoGreeting }, (server) => server.ask(request))
}

/** Opens a connection, makes the handshake, lets `use` send requests one by one, and closes the connection. */
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

/** Opens a connection and makes the handshake. */
export async function openServer(
  connect: Connect,
  {
    timeoutMs,
    signal,
    isGreeted = true,
    greetingMs = timeoutMs,
    role,
  }: CallTimes & { readonly isGreeted?: boolean; readonly greetingMs?: number; readonly role?: ClientRole },
): Promise<OpenServer | { readonly error: string }> {
  let live: LiveConnection | undefined
  const nothing = (): void => undefined
  const opened = await openLive(
    connect,
    { timeoutMs: greetingMs, signal },
    {
      question: (text, envelope) => {
        if (role) return role.question(text, envelope)
        // No client role to respond.
        const answer = defaultAnswer(envelope, 'error')
        live?.send(clientFrame(answer, [answer])).catch(nothing)
      },
      notification: (_method, text) => role?.notification(text),
      noise: nothing,
      stray: nothing,
      nameless: nothing,
      ended: (reason) => role?.ended(reason),
    },
  )
  if ('error' in opened) return opened
  live = opened
  let greeted
  try {
    greeted = isGreeted
      ? await greet(opened, role?.capabilities.legacy ?? '{}', greetingMs, signal, role !== undefined)
      : { isModern: true }
  } catch (error) {
    await opened.close()
    throw error
  }
  if ('error' in greeted) {
    await opened.close()
    return greeted
  }
  const { isModern, ...greeting } = greeted
  let id = 0
  const tell = (text: string): Promise<void> => opened.send(clientFrame(text, [text]))
  return {
    isModern,
    ...greeting,
    tell,
    get ended() {
      return opened.ended
    },
    async ask(request, cancel) {
      if (opened.ended !== undefined) return { error: opened.ended }
      const text =
        'text' in request
          ? request.text
          : newRequest(request, (id += 1), isModern ? (role?.capabilities.modern ?? '{}') : undefined)
      const frame = clientFrame(text, [text])
      const own = readEnvelope(text, 0).id ?? 'null'
      const told = (): void => void tell(cancelled(own)).catch(nothing)
      cancel?.addEventListener('abort', told)
      const result = await askLive(opened, frame, own, timeoutMs, cancel ?? signal)
      cancel?.removeEventListener('abort', told)
      return 'text' in result ? { answer: result.text } : { error: result.error }
    },
    close: () => opened.close(),
  }
}

function cancelled(id: string): string {
  const params = `{"requestId":${id},"reason":"cancelled by the user"}`
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`
}

/** Response of a recording bridge when a server wants other headers. No server of any era refuses `initialize` so. */
const refusedLogin =
  /^\{"jsonrpc":"2\.0","id":"[\w-]+","error":\{"code":40[137],"message":"wiretape: (HTTP 40[137][^":]*)/
/** Response of a recording bridge that reached no MCP server: a failed connection, a gateway without one, a redirect. */
const unreachable =
  /^\{"jsonrpc":"2\.0","id":"[\w-]+","error":\{"code":(?:50[234]|30\d),"message":"wiretape: /

/** @param isPerson a person can enter other headers */
async function greet(
  live: LiveConnection,
  capabilities: string,
  timeoutMs: number,
  signal: AbortSignal,
  isPerson: boolean,
): Promise<{ readonly isModern: boolean; readonly greeting?: string } | { readonly error: string }> {
  const id = '"wiretape-initialize"'
  const about = `"protocolVersion":"${newestLegacy}","clientInfo":${JSON.stringify(clientInfo)}`
  const params = `{${about},"capabilities":${capabilities}}`
  const text = `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":${params}}`
  const result = await askLive(live, clientFrame(text, [text]), id, timeoutMs, signal)
  if (!('text' in result)) return { error: `initialize: ${result.error}` }
  const refused = refusedLogin.exec(result.text)?.[1] ?? unreachableWords(result.text)
  if (isPerson && refused !== undefined) return { error: refused }
  if (failureOf(result.text) !== undefined) return { isModern: true }
  await live.send(initialized)
  return { isModern: false, greeting: result.text }
}

function unreachableWords(text: string): string | undefined {
  if (!unreachable.test(text)) return undefined
  return new JsonObject(text, 0)
    .object('error')
    ?.string('message')
    ?.replace(/^wiretape: /, '')
}

/** @param capabilities of the client, where each request declares them */
function newRequest(
  { method, params }: { method: string; params: string },
  id: number,
  capabilities: string | undefined,
): string {
  const whole = capabilities === undefined ? params : withMeta(params, capabilities)
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${whole}}`
}

/** Adds the members that 2026-07-28 requires in every request, beside those already in `_meta`. */
function withMeta(params: string, capabilities: string): string {
  const meta =
    `"io.modelcontextprotocol/protocolVersion":"${modern}",` +
    `"io.modelcontextprotocol/clientInfo":${JSON.stringify(clientInfo)},` +
    `"io.modelcontextprotocol/clientCapabilities":${capabilities}`
  const text = params.trimStart()
  const own = memberOf(membersOf(text, 0), '_meta')
  if (own) return text.slice(0, own.start + 1) + joined(meta, text.slice(own.start + 1))
  return `{"_meta":{${meta}}${joined('', text.slice(1))}`
}

function joined(members: string, rest: string): string {
  return rest.trimStart().startsWith('}') ? members + rest : `${members},${rest}`
}

/**
 * A recorded request with some values replaced.
 *
 * @throws WiretapeError `usage` for a place that the request lacks, and for a redacted value that is not given
 */
export function setValues(text: string, sets: readonly SetValue[]): string {
  let made = text
  for (const { path, name, json } of sets) {
    const whole = jsonIn(made)
    const places = whole ? path.find(made, whole) : []
    if (places.length === 0)
      throw new WiretapeError('usage', `--set ${name}: the request has no value at this path`, {
        hint: 'a path starts at the message, such as $.params.arguments.q',
      })
    made = spliceText(
      made,
      places.map(({ start, end }) => ({ start, end, text: json })),
    )
  }
  if (made.includes(redactionMarker))
    throw new WiretapeError('usage', 'a value of the recorded request was redacted', {
      hint: "give it with --set '$.params.arguments.NAME=${VARIABLE}'",
    })
  return made
}
