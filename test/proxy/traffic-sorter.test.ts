import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createTrafficSorter, type SeenServer } from '../../src/proxy/index.js'
import type { HttpHappening } from '../../src/transports/index.js'

interface Exchange {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly status?: number
  readonly answerHeaders?: Readonly<Record<string, string>>
  readonly answer?: string | Buffer
}

/** Plays exchanges one after the other; what came to which server, as short words. */
function sort(exchanges: readonly Exchange[]): { servers: SeenServer[]; told: Record<string, string[]> } {
  const servers: SeenServer[] = []
  const told: Record<string, string[]> = {}
  const sorter = createTrafficSorter({
    open(server) {
      servers.push(server)
      const words: string[] = (told[server.origin] = [])
      return (event) => {
        if (event.kind === 'request')
          words.push(`${event.exchange} ${event.method} ${event.origin}${event.path}`)
        if (event.kind === 'response-body') words.push(`${event.exchange} < ${event.bytes.length}`)
      }
    },
  })
  let atMs = 0
  for (const [exchange, played] of exchanges.entries())
    for (const happening of happenings(played)) {
      atMs += 1
      sorter.event({ ...happening, exchange, atMs, wallMs: atMs })
    }
  return { servers, told }
}

function* happenings(played: Exchange): Generator<HttpHappening> {
  const { origin, pathname, search } = new URL(played.url)
  const { method = 'GET', status = 200, body, answer, headers = {}, answerHeaders = {} } = played
  yield {
    kind: 'request',
    connection: 0,
    method,
    origin,
    path: pathname + search,
    headers: Object.entries(headers).flat(),
  }
  if (body !== undefined) yield { kind: 'request-body', bytes: Buffer.from(body) }
  yield { kind: 'request-end' }
  yield { kind: 'response', status, headers: Object.entries(answerHeaders).flat() }
  if (answer !== undefined) yield { kind: 'response-body', bytes: Buffer.from(answer) }
  yield { kind: 'response-end' }
}

const server = 'https://mcp.example'
const authority = 'https://as.example'
const initialize = (url = `${server}/mcp`): Exchange => ({
  url,
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: '{"method":"initialize","params":{},"jsonrpc":"2.0","id":0}',
})
const form = (fields: Record<string, string>, answer = '{}'): Exchange => ({
  url: `${authority}/token`,
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
  answer,
})
const metadataOf = (name: string, document: object): Exchange => ({
  url: name,
  answer: JSON.stringify(document),
})

describe('what is recorded', () => {
  it('is MCP by its body, and from then on whatever goes to that URL', () => {
    const { servers, told } = sort([
      { url: `${server}/`, answer: '<html>' },
      initialize(),
      { url: `${server}/mcp`, method: 'DELETE' },
      { url: `${server}/logo.png`, answer: 'x' },
      { url: `${server}/api`, method: 'POST', body: '{"a":1}' },
    ])
    expect(servers).toMatchObject([
      { origin: server, url: new URL(`${server}/mcp`), transport: 'streamable-http' },
    ])
    expect(told[server]).toEqual([`0 POST ${server}/mcp`, `1 DELETE ${server}/mcp`])
  })

  it.each([
    ['a header of MCP', { headers: { 'Mcp-Session-Id': 'x' } }],
    [
      'JSON-RPC with what Streamable HTTP accepts',
      {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      },
    ],
    ['a batch', { method: 'POST', body: '[{"jsonrpc":"2.0","method":"notifications/initialized"}]' }],
    [
      'a long message on a URL that nobody knows',
      {
        method: 'POST',
        body: `{"method":"tools/call","params":{"a":"${'x'.repeat(300_000)}"},"jsonrpc":"2.0"}`,
      },
    ],
  ] satisfies [string, Partial<Exchange>][])('is MCP by %s', (_, exchange) => {
    expect(sort([{ url: `${server}/x`, ...exchange }]).servers).toHaveLength(1)
  })

  it.each([
    ['another JSON-RPC', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_call"}' }],
    ['JSON', { method: 'POST', body: '{"method":"tools/call"}' }],
    [
      'a form',
      { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' },
    ],
    ['an event stream of another kind', stream('event: ping\ndata: {}\n\n')],
    ['metadata of nobody', { url: `${server}/.well-known/oauth-protected-resource` }],
  ] satisfies [string, Partial<Exchange>][])('is not %s', (_, exchange) => {
    expect(sort([{ url: `${server}/x`, ...exchange }]).servers).toEqual([])
  })

  it('is HTTP+SSE by its first event, and the URL that this tells', () => {
    const { servers, told } = sort([
      { url: `${server}/sse`, ...stream('event: endpoint\r\ndata: /message?sessionId=1\r\n\r\n') },
      { url: `${server}/message?sessionId=1`, method: 'POST', body: 'no JSON' },
    ])
    expect(servers[0]!.transport).toBe('sse')
    expect(told[server]).toContain(`1 POST ${server}/message?sessionId=1`)
  })

  it('has a tape for each server', () => {
    const other = 'http://localhost:3000'
    const { told } = sort([initialize(), initialize(`${other}/mcp`), initialize()])
    expect(told[server]).toEqual([`0 POST ${server}/mcp`, `1 POST ${server}/mcp`])
    expect(told[other]).toEqual([`0 POST ${other}/mcp`])
  })
})

describe('the OAuth around it', () => {
  const resource = `${server}/.well-known/oauth-protected-resource/mcp`
  const named = [
    metadataOf(resource, { resource: `${server}/mcp`, authorization_servers: [`${authority}/tenant`] }),
    metadataOf(`${authority}/.well-known/oauth-authorization-server/tenant`, {
      issuer: `${authority}/tenant`,
      token_endpoint: `${authority}/token`,
      registration_endpoint: `${authority}/clients`,
      authorization_endpoint: `${authority}/login`,
    }),
    { url: `${authority}/clients`, method: 'POST', body: '{"client_name":"x"}' },
    { url: `${authority}/login?resource=${server}/mcp`, status: 302 },
    form({ grant_type: 'authorization_code' }),
  ]

  it('is followed from metadata to metadata', () => {
    const { told } = sort([initialize(), ...named, { url: `${authority}/`, answer: 'a page' }])
    expect(told[server]!.filter((words) => !words.includes('<')).slice(1)).toEqual([
      `1 GET ${resource}`,
      `2 GET ${authority}/.well-known/oauth-authorization-server/tenant`,
      `3 POST ${authority}/clients`,
      `4 GET ${authority}/login?resource=${server}/mcp`,
      `5 POST ${authority}/token`,
    ])
  })

  it('may come before the server, and comes first on its tape then', () => {
    const { told } = sort([...named, initialize()])
    expect(told[server]!.filter((words) => !words.includes('<'))).toEqual([
      `0 GET ${resource}`,
      `1 GET ${authority}/.well-known/oauth-authorization-server/tenant`,
      `2 POST ${authority}/token`,
      `3 POST ${server}/mcp`,
    ])
  })

  it('is found by the URL in a challenge, whatever that is, and in compressed metadata', () => {
    const odd = 'https://elsewhere.example/odd'
    const { told } = sort([
      {
        ...initialize(),
        status: 401,
        answerHeaders: { 'WWW-Authenticate': `Bearer resource_metadata="${odd}", scope="a"` },
      },
      {
        url: odd,
        answerHeaders: { 'Content-Encoding': 'gzip' },
        answer: gzipSync(JSON.stringify({ authorization_servers: [authority] })),
      },
      { url: `${authority}/.well-known/openid-configuration` },
    ])
    expect(told[server]).toContain(`1 GET ${odd}`)
    expect(told[server]).toContain(`2 GET ${authority}/.well-known/openid-configuration`)
  })

  it('has its places at the server itself when no metadata say so', () => {
    const { told } = sort([initialize(), { url: `${server}/authorize?code_challenge=x`, status: 302 }])
    expect(told[server]).toHaveLength(2)
  })

  it('belongs to the server that a token is asked for, where several share an authorization server', () => {
    const other = 'https://other.example'
    const share = (origin: string): Exchange =>
      metadataOf(`${origin}/.well-known/oauth-protected-resource`, { authorization_servers: [authority] })
    const { told } = sort([
      initialize(),
      share(server),
      initialize(`${other}/mcp`),
      share(other),
      metadataOf(`${authority}/.well-known/oauth-authorization-server`, {
        token_endpoint: `${authority}/token`,
      }),
      form({ grant_type: 'refresh_token', resource: `${server}/mcp` }),
    ])
    expect(told[server]).toContain(`2 POST ${authority}/token`)
    expect(told[other]!.some((words) => words.includes('/token'))).toBe(false)
  })

  it('belongs to the server that is shown the token', () => {
    const token = form({ grant_type: 'client_credentials' }, '{"access_token":"t-1"}')
    const unrelated = form({ grant_type: 'client_credentials' }, '{"access_token":"t-2"}')
    const shown = initialize()
    const { told } = sort([
      unrelated,
      token,
      { ...shown, headers: { ...shown.headers, Authorization: 'Bearer t-1' } },
    ])
    expect(told[server]).toEqual([`0 POST ${authority}/token`, '0 < 22', `1 POST ${server}/mcp`])
  })
})

function stream(answer: string): Partial<Exchange> {
  return {
    headers: { accept: 'text/event-stream' },
    answerHeaders: { 'content-type': 'text/event-stream' },
    answer,
  }
}
