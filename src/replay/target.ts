import net from 'node:net'
import { joinCommandLine, WiretapeError } from '../model/index.js'
import { Redactor } from '../redaction/index.js'
import {
  connectHttp,
  connectSse,
  connectStdio,
  type ClientConnection,
  type ClientEvents,
} from '../link/index.js'
import { createDeadline } from '../transports/index.js'
import type { Connect } from './live-connection.js'

/** The live server. */
export type ReplayTarget =
  | {
      /** The server and its arguments; started for every connection, without a shell. */
      readonly command: readonly string[]
      /** Added to our own environment. */
      readonly env?: Readonly<Record<string, string>>
      readonly cwd?: string
    }
  | {
      readonly url: string
      /** Sent with every request, such as `Authorization`. */
      readonly headers?: readonly (readonly [name: string, value: string])[]
      /** `sse` is HTTP+SSE of 2024-11-05. @default as recorded; `streamable-http` for recordings of stdio */
      readonly transport?: 'streamable-http' | 'sse'
    }

const probeMs = 5_000
/** Characters kept of a server's stderr before its end. */
const keptStderr = 4_096

/** For displayed texts given by a person or sent by a server. Tags are only for messages of a tape. */
const redactor = new Redactor({ defaults: true, tag: () => '' })

/** The server in one line, without secrets, as in a recording. */
export function describeTarget(target: ReplayTarget): string {
  return 'command' in target ? joinCommandLine(redactor.command(target.command)) : redactor.url(target.url)
}

/** @throws WiretapeError `usage` for an invalid URL */
export function connectTo(target: ReplayTarget): Connect {
  if ('command' in target) return (events) => connectCommand(target, events)
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new WiretapeError('usage', `${describeTarget(target)} is not an http or https URL`)
  const headers = target.headers ?? []
  return async (events, { timeoutMs, signal }) => {
    const refused = await probe(url)
    if (refused !== undefined) return { error: `cannot reach ${url.origin}: ${refused}` }
    if (target.transport !== 'sse') return connectHttp(url, { headers }, withHint(events))
    const opening = createDeadline({ ms: timeoutMs, signal })
    try {
      return await connectSse(url, { headers, opening: opening.signal }, events)
    } catch (error) {
      return {
        error: `cannot open ${url.origin}${url.pathname}: ${error instanceof Error ? error.message : String(error)}`,
      }
    } finally {
      opening.close()
    }
  }
}

/** Servers of HTTP+SSE accept no POST at the address of their stream. */
function withHint(events: ClientEvents): ClientEvents {
  return {
    ...events,
    failed(frame, reason, failure) {
      const isOther = frame.method === 'initialize' && /^HTTP 40[045]\b/.test(reason)
      const words = isOther ? `${reason} (for an HTTP+SSE server, use the transport sse)` : reason
      events.failed(frame, words, failure)
    },
  }
}

/** A server that ends early usually gives the reason on stderr. */
async function connectCommand(
  { command, env, cwd }: Extract<ReplayTarget, { readonly command: unknown }>,
  events: ClientEvents,
): Promise<ClientConnection | { readonly error: string }> {
  let tail = ''
  const own = { ...(env && { env: { ...process.env, ...env } }), ...(cwd !== undefined && { cwd }) }
  const connected = await connectStdio(
    command,
    {
      ...events,
      stderr(bytes) {
        tail = (tail + Buffer.from(bytes).toString('utf8')).slice(-keptStderr)
      },
      ended(reason) {
        const last = tail.trimEnd().split('\n').at(-1) ?? ''
        events.ended(last === '' ? reason : `${reason}: ${redactor.text(last)}`)
      },
    },
    own,
  )
  return 'error' in connected ? { error: redactor.text(connected.error) } : connected
}

/** Why no server answers at this address; undefined if one does. */
function probe(url: URL): Promise<string | undefined> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return new Promise((resolve) => {
    const socket = net.connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port })
    const finish = (why: string | undefined): void => {
      socket.destroy()
      resolve(why)
    }
    socket.setTimeout(probeMs, () => finish('the connection timed out'))
    socket.once('connect', () => finish(undefined))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const known = { ECONNREFUSED: 'the connection was refused', ENOTFOUND: 'the host name was not found' }
      finish(known[error.code as keyof typeof known] ?? error.code ?? error.message)
    })
  })
}
