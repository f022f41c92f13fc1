import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createEndpointMove } from '../../src/transports/http-proxy/endpoint-event.js'
import { useHttpStage } from './http-proxy-stage.js'

const stage = useHttpStage()

const from = 'http://up.example:8080'
const to = 'http://localhost:4000'

/** The output for `text` in pieces. */
function move(text: string, cuts: readonly number[]): string {
  const change = createEndpointMove(from, to)
  const bytes = Buffer.from(text, 'latin1')
  const edges = [0, ...cuts, bytes.length]
  const out = edges.slice(1).map((end, n) => change.push(bytes.subarray(edges[n], end)))
  return Buffer.concat([...out, change.end()]).toString('latin1')
}

const rest = 'event: message\ndata: {"url":"http://up.example:8080/"}\n\n'
const moved: Record<string, readonly [string, string]> = {
  'an absolute URL': [
    `event: endpoint\ndata: ${from}/message?sessionId=1\n\n`,
    `event: endpoint\ndata: ${to}/message?sessionId=1\n\n`,
  ],
  'carriage returns, no spaces': [
    `event:endpoint\r\ndata:${from}/m\r\n\r\n`,
    `event:endpoint\r\ndata:${to}/m\r\n\r\n`,
  ],
  'only carriage returns': [`event: endpoint\rdata: ${from}/m\r\r`, `event: endpoint\rdata: ${to}/m\r\r`],
  'an origin alone': [`event: endpoint\ndata: ${from}\n\n`, `event: endpoint\ndata: ${to}\n\n`],
  'an origin in capitals': [
    `event: endpoint\ndata: HTTP://UP.Example:8080?a\n\n`,
    `event: endpoint\ndata: ${to}?a\n\n`,
  ],
  'comments, fields and a byte order mark before it': [
    `\xef\xbb\xbf: hello ${from}/\n\n: more\nretry: 100\nid: 1\nevent: endpoint\n: x\ndata: ${from}/m\n\n`,
    `\xef\xbb\xbf: hello ${from}/\n\n: more\nretry: 100\nid: 1\nevent: endpoint\n: x\ndata: ${to}/m\n\n`,
  ],
}
const kept: Record<string, string> = {
  'a relative URL': 'event: endpoint\ndata: /message?sessionId=1\n\n',
  'another origin': 'event: endpoint\ndata: http://up.example:80801/m\n\n',
  'another host': 'event: endpoint\ndata: http://up.example:8080.evil.example/m\n\n',
  'a user name': 'event: endpoint\ndata: http://up.example:8080@evil.example/m\n\n',
  'another scheme': 'event: endpoint\ndata: https://up.example:8080/m\n\n',
  'another event': `event: message\ndata: ${from}/m\n\nevent: endpoint\ndata: ${from}/m\n\n`,
  'data without a name': `data: ${from}/m\n\nevent: endpoint\ndata: ${from}/m\n\n`,
  'an endpoint without data': `event: endpoint\n\ndata: ${from}/m\n\n`,
  'a name that goes on': `event: endpoints\ndata: ${from}/m\n\n`,
  'two spaces': `event: endpoint\ndata:  ${from}/m\n\n`,
  'an end too early': `event: endpoint\ndata: http://up.exam`,
  nothing: '',
}

describe('the endpoint event', () => {
  it.each(Object.entries(moved))('names us instead of the upstream: %s', (_, [text, expected]) => {
    for (let cut = 0; cut <= text.length; cut += 1) expect(move(text + rest, [cut])).toBe(expected + rest)
    const every = Array.from({ length: text.length }, (_, n) => n)
    expect(move(text + rest, every)).toBe(expected + rest)
  })

  it.each(Object.entries(kept))('stays as it is: %s', (_, text) => {
    for (let cut = 0; cut <= text.length; cut += 1) expect(move(text, [cut])).toBe(text)
    expect(
      move(
        text,
        Array.from({ length: text.length }, (_, n) => n),
      ),
    ).toBe(text)
  })

  it('is not held back, but for what may be the origin', () => {
    const change = createEndpointMove(from, to)
    const push = (text: string): string => change.push(Buffer.from(text)).toString()
    expect(push('event: end')).toBe('event: end')
    expect(push('point\nda')).toBe('point\nda')
    expect(push('ta: ')).toBe('ta: ')
    expect(push('http://up')).toBe('')
    expect(push('.example:8080')).toBe('')
    expect(push('/m')).toBe(`${to}/m`)
    expect(push('essage')).toBe('essage')
  })

  it('does not hold back a host name without end', () => {
    const change = createEndpointMove(from, to)
    const text = `event: endpoint\ndata: http://${'x'.repeat(400)}`
    expect(change.push(Buffer.from(text)).toString()).toBe(text)
  })

  it('names the host by which the client reached us, and is told as it came', async () => {
    const upstream: number = await stage.httpUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: endpoint\ndata: http://127.0.0.1:${upstream}/message\n\n`)
    })
    const proxy = await stage.proxy(upstream)
    for (const host of ['127.0.0.1', 'localhost']) {
      const answer = await fetch(`http://${host}:${proxy.port}/sse`)
      expect(await answer.text()).toBe(`event: endpoint\ndata: http://${host}:${proxy.port}/message\n\n`)
    }
    const bodies = proxy.events.flatMap((event) =>
      event.kind === 'response-body' ? [Buffer.from(event.bytes)] : [],
    )
    expect(bodies[0]!.toString()).toContain(`http://127.0.0.1:${upstream}/message`)
  })
})

describe('OAuth metadata', () => {
  const wellKnown = '/.well-known/oauth-protected-resource/mcp'

  async function openUpstream(encoding?: string): Promise<number> {
    const port: number = await stage.httpUpstream((request, response) => {
      const origin = `http://127.0.0.1:${port}`
      const document = `{ "resource" : "${origin.replaceAll('/', '\\/')}/mcp", "n": 1.0, "é": "${origin}",\n"authorization_servers": ["${origin}"]}`
      if (request.url === '/mcp') {
        response.setHeader(
          'WWW-Authenticate',
          `Bearer error="x", resource_metadata="${origin}${wellKnown}", scope="a ${origin}"`,
        )
        return response.writeHead(401).end()
      }
      const body = encoding ? gzipSync(document) : Buffer.from(document)
      response.setHeader('content-type', 'application/json; charset=utf-8')
      if (encoding) response.setHeader('content-encoding', encoding)
      if (!request.url!.includes('chunks')) return response.setHeader('content-length', body.length).end(body)
      for (const byte of body) response.write(Buffer.of(byte))
      return response.end()
    })
    return port
  }

  it('names us as the resource, and says once that the audience changes', async () => {
    const upstream = await openUpstream()
    const proxy = await stage.proxy(upstream)
    const origin = `http://127.0.0.1:${upstream}`
    const own = `http://localhost:${proxy.port}`
    const challenge = await fetch(`${own}/mcp`)
    expect(challenge.headers.get('www-authenticate')).toBe(
      `Bearer error="x", resource_metadata="${own}${wellKnown}", scope="a ${origin}"`,
    )
    for (const path of [wellKnown, '/.well-known/oauth-protected-resource', `${wellKnown}?chunks`]) {
      const answer = await fetch(own + path)
      const expected = `{ "resource" : "${own}/mcp", "n": 1.0, "é": "${origin}",\n"authorization_servers": ["${origin}"]}`
      expect(await answer.text()).toBe(expected)
    }
    expect(proxy.notices).toHaveLength(1)
    expect(proxy.notices[0]).toContain('audience')
    const told = proxy.events.filter((event) => event.kind === 'response')
    expect(told[0]!.headers.join(' ')).toContain(`resource_metadata="${origin}`)
  })

  it('names us where a challenge says that the metadata are, and is not asked for compressed', async () => {
    const asked: unknown[] = []
    const port: number = await stage.httpUpstream((request, response) => {
      const origin = `http://127.0.0.1:${port}`
      if (request.url === '/mcp') {
        response.setHeader('WWW-Authenticate', `Bearer resource_metadata="${origin}/meta?of=mcp"`)
        return response.writeHead(401).end()
      }
      const codings = request.headers['accept-encoding'] ?? ''
      asked.push([request.url, codings])
      const document = JSON.stringify({ resource: `${origin}/mcp` })
      response.setHeader('content-type', 'application/json')
      if (!codings.includes('gzip')) return response.end(document)
      return response.setHeader('content-encoding', 'gzip').end(gzipSync(document))
    })
    const proxy = await stage.proxy(port)
    const own = `http://localhost:${proxy.port}`
    const straight = { resource: `http://127.0.0.1:${port}/mcp` }
    const get = (path: string): Promise<unknown> => fetch(own + path).then((answer) => answer.json())
    expect(await get('/meta?of=mcp')).toEqual(straight)
    await fetch(`${own}/mcp`)
    expect(await get('/meta?of=mcp')).toEqual({ resource: `${own}/mcp` })
    expect(await get(wellKnown)).toEqual({ resource: `${own}/mcp` })
    expect(await get('/meta')).toEqual(straight)
    const any = expect.stringContaining('gzip')
    expect(asked).toEqual([
      ['/meta?of=mcp', any],
      ['/meta?of=mcp', 'identity'],
      [wellKnown, 'identity'],
      ['/meta', any],
    ])
  })

  it.each([
    ['compressed all the same', 'gzip', wellKnown, {}],
    ['at another path', undefined, '/.well-known/oauth-protected-resources', {}],
    ['when told so', undefined, wellKnown, { oauthRewrite: false }],
  ])('stays as it is %s', async (_, encoding, path, options) => {
    const upstream = await openUpstream(encoding)
    const proxy = await stage.proxy(upstream, options)
    const straight = await fetch(`http://127.0.0.1:${upstream}${path}`).then((answer) => answer.text())
    expect(await fetch(new URL(path, proxy.url)).then((answer) => answer.text())).toBe(straight)
    expect(proxy.notices).toEqual([])
  })

  it('passes when it is too long to be metadata, or no JSON', async () => {
    const long = `{"resource":"x","y":"${'z'.repeat(3_000_000)}"}`
    for (const body of [long, 'nonsense', '["resource"]', '']) {
      const upstream = await stage.httpUpstream((_, response) => {
        response.setHeader('content-type', 'application/json').end(body)
      })
      const proxy = await stage.proxy(upstream)
      const answer = await fetch(new URL(wellKnown, proxy.url))
      expect((await answer.text()) === body).toBe(true)
    }
  })
})
