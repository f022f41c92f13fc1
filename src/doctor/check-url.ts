import dns from 'node:dns/promises'
import net from 'node:net'
import tls from 'node:tls'
import { answerSteps, initialize, offeredVersion } from './handshake.js'
import { failed, note, ok, wordsOf, type Step } from './step.js'

export interface UrlCheck {
  readonly url: URL
  readonly headers: readonly (readonly [string, string])[]
  readonly timeoutMs: number
}

/** Certificates that expire sooner get a note. */
const soonDays = 14
const longestBody = 1024 * 1024

/** Checks each stage of a client's first request; stops at the first failed step. */
export async function* checkUrl({ url, headers, timeoutMs }: UrlCheck): AsyncGenerator<Step> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const proxy = proxyFor(url)
  if (proxy !== undefined)
    yield note(
      'proxy',
      `${proxy} is set in the environment`,
      'these checks bypass the proxy; clients may use it',
    )
  let address = host
  if (net.isIP(host) === 0) {
    try {
      const found = await dns.lookup(host, { all: true })
      address = found[0]!.address
      yield ok(
        'DNS',
        `${host} is ${found
          .map((each) => each.address)
          .slice(0, 4)
          .join(', ')}`,
      )
    } catch (error) {
      yield failed('DNS', wordsOf(error), 'check the host name, and that this machine reaches a name server')
      return
    }
  }
  try {
    const tookMs = await connectTcp(address, port, timeoutMs)
    yield ok('TCP', `${address} port ${port} after ${Math.round(tookMs)} ms`)
  } catch (error) {
    yield failed(
      'TCP',
      wordsOf(error),
      `check that a server listens on ${host}:${port} and that no firewall blocks it`,
    )
    return
  }
  if (url.protocol === 'https:') {
    const step = await checkTls(host, port, timeoutMs)
    yield step
    if (step.state === 'failed') return
  } else if (!isLoopback(host)) yield note('TLS', 'none: tokens and messages are not encrypted', 'use https')
  yield* askHttp(url, headers, timeoutMs)
}

function connectTcp(host: string, port: number, timeoutMs: number): Promise<number> {
  const beganAt = performance.now()
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no response within ${timeoutMs / 1000} s`)))
    socket.once('connect', () => {
      resolve(performance.now() - beganAt)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

function checkTls(host: string, port: number, timeoutMs: number): Promise<Step> {
  return new Promise((resolve) => {
    const servername = net.isIP(host) === 0 ? host : undefined
    const socket = tls.connect({ host, port, ...(servername !== undefined && { servername }) })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no handshake within ${timeoutMs / 1000} s`)))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isTrust = /CERT|SELF_SIGNED|ISSUER|ALTNAME|UNABLE_TO/.test(error.code ?? '')
      const advice = isTrust
        ? 'add the certificate authority to NODE_EXTRA_CA_CERTS, or replace the certificate'
        : 'does the server speak TLS on this port?'
      resolve(failed('TLS', `${wordsOf(error)}${error.code === undefined ? '' : ` (${error.code})`}`, advice))
    })
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate()
      const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / 86_400_000)
      const issuer = certificate.issuer?.O ?? certificate.issuer?.CN ?? 'an unnamed authority'
      const words = `${socket.getProtocol() ?? ''}, certificate of ${String(issuer)}, ${days} days left`
      resolve(days < soonDays ? note('TLS', words, 'renew the certificate') : ok('TLS', words))
      socket.destroy()
    })
  })
}

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly tookMs: number
}

async function ask(
  url: URL,
  init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
  timeoutMs: number,
): Promise<Reply> {
  const timer = new AbortController()
  const timeout = setTimeout(
    () => timer.abort(new Error(`no response within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  const beganAt = performance.now()
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: timer.signal })
    const tookMs = performance.now() - beganAt
    return { status: response.status, headers: response.headers, text: await firstText(response), tookMs }
  } finally {
    clearTimeout(timeout)
  }
}

/** The body, or the first event of a stream, since streams may stay open. */
async function firstText(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const decoder = new TextDecoder()
  let text = ''
  const reader = response.body?.getReader()
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) break
    text += decoder.decode(value, { stream: true })
    if (text.length > longestBody || (isStream && /^data:.*\S.*\r?\n\r?\n/m.test(text))) {
      await reader?.cancel().catch(() => undefined)
      break
    }
  }
  if (!isStream) return text
  const data = text.split(/\r?\n/).filter((line) => line.startsWith('data:') && line.trim() !== 'data:')
  return data.map((line) => line.slice('data:'.length)).join('\n')
}

async function* askHttp(
  url: URL,
  given: readonly (readonly [string, string])[],
  timeoutMs: number,
): AsyncGenerator<Step> {
  const own = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...Object.fromEntries(given),
  }
  let reply: Reply
  try {
    reply = await ask(url, { method: 'POST', headers: own, body: JSON.stringify(initialize) }, timeoutMs)
  } catch (error) {
    yield failed(
      'HTTP',
      wordsOf(error),
      'the connection opens and then fails: check the server and the proxies in front of it',
    )
    return
  }
  const { status, headers, text, tookMs } = reply
  if (status === 401 || status === 403) {
    yield* checkLogin(url, reply, given, timeoutMs)
    return
  }
  if (status >= 300 && status < 400) {
    yield failed(
      'HTTP',
      `${status}, redirected to ${String(headers.get('location')).slice(0, 200)}`,
      'use the URL of the redirect',
    )
    return
  }
  if (status === 404 || status === 405) {
    yield* checkLegacy(url, own, status, timeoutMs)
    return
  }
  if (status >= 400) {
    yield failed(
      'HTTP',
      `${status}: ${text.slice(0, 160)}`,
      status >= 500 ? 'the server failed: check its log' : 'is the path right?',
    )
    return
  }
  yield ok('HTTP', `${status}, ${headers.get('content-type') ?? 'no content type'}`)
  yield ok(
    'authorization',
    given.length === 0 ? 'none required' : `accepted with ${given.map(([name]) => name).join(', ')}`,
  )
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    yield failed(
      'response is JSON',
      JSON.stringify(text.slice(0, 120)),
      'is this the MCP endpoint? It often ends in /mcp',
    )
    return
  }
  yield* answerSteps(answer, tookMs)
  const session = headers.get('mcp-session-id')
  yield session === null
    ? note('session', 'the server has no sessions (stateless)')
    : ok('session', 'the server assigned a session id')
  yield await checkModern(url, own, timeoutMs)
  if (session !== null) {
    const closing = { ...own, 'mcp-session-id': session, 'mcp-protocol-version': offeredVersion }
    await ask(url, { method: 'DELETE', headers: closing }, timeoutMs).catch(() => undefined)
  }
}

/** OAuth: resource metadata, authorization server. */
async function* checkLogin(
  url: URL,
  { status, headers }: Reply,
  given: readonly (readonly [string, string])[],
  timeoutMs: number,
): AsyncGenerator<Step> {
  yield ok('HTTP', String(status))
  const challenge = headers.get('www-authenticate') ?? ''
  const named = /resource_metadata="([^"]{1,2000})"/.exec(challenge)?.[1]
  const path = url.pathname === '/' ? '' : url.pathname
  const places = [
    ...(named !== undefined && URL.canParse(named) ? [new URL(named)] : []),
    new URL(`/.well-known/oauth-protected-resource${path}`, url),
    new URL('/.well-known/oauth-protected-resource', url),
  ]
  for (const place of places) {
    const reply = await ask(
      place,
      { method: 'GET', headers: { accept: 'application/json' } },
      timeoutMs,
    ).catch(() => undefined)
    if (reply?.status !== 200) continue
    try {
      const data = JSON.parse(reply.text) as { authorization_servers?: unknown }
      const servers = Array.isArray(data.authorization_servers) ? data.authorization_servers.map(String) : []
      yield ok(
        '.well-known',
        `${place.pathname}: ${servers.slice(0, 3).join(', ') || 'no authorization server given'}`,
      )
      break
    } catch {
      yield note('.well-known', `${place.pathname} is not JSON`)
    }
  }
  const advice =
    given.length > 0
      ? 'the token is wrong, expired or for another audience'
      : "log in with the client, or pass a token: --header 'Authorization: Bearer ${TOKEN}'"
  yield failed('authorization', `${status}${challenge === '' ? '' : `: ${challenge.slice(0, 200)}`}`, advice)
}

/** HTTP+SSE servers (2024-11-05) refuse a POST to the URL of their stream. */
async function* checkLegacy(
  url: URL,
  own: Record<string, string>,
  status: number,
  timeoutMs: number,
): AsyncGenerator<Step> {
  const reply = await ask(
    url,
    { method: 'GET', headers: { ...own, accept: 'text/event-stream' } },
    timeoutMs,
  ).catch(() => undefined)
  const isStream =
    reply?.status === 200 && reply.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream)
    yield note(
      'era',
      'HTTP+SSE (2024-11-05)',
      'record it with wiretape record --url, which detects the transport',
    )
  else yield failed('HTTP', String(status), 'is the path right? MCP endpoints often end in /mcp or /sse')
}

async function checkModern(url: URL, own: Record<string, string>, timeoutMs: number): Promise<Step> {
  const version = '2026-07-28'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': initialize.params.clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = { jsonrpc: '2.0', id: 'wiretape-doctor-2', method: 'server/discover', params: { _meta: meta } }
  const headers = { ...own, 'mcp-protocol-version': version, 'mcp-method': 'server/discover' }
  const reply = await ask(url, { method: 'POST', headers, body: JSON.stringify(body) }, timeoutMs).catch(
    () => undefined,
  )
  const isModern = reply?.status === 200 && /"supportedVersions"\s*:/.test(reply.text)
  return ok('era', isModern ? `with initialize, and ${version} too` : 'with initialize (up to 2025-11-25)')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function proxyFor(url: URL): string | undefined {
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  return [name, name.toLowerCase(), 'ALL_PROXY', 'all_proxy'].find((each) => (process.env[each] ?? '') !== '')
}
