import { describe, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { isMessage, openStream, post, useHttpStage } from './http-stage.js'
import { wiretape } from './run-cli.js'
import { until } from './stage.js'
import type { Line } from './tape-bytes.js'

const stage = useHttpStage()

const sessions = ['9b1f0a52-6f0e-4c51-9d0e-2f40b9a1c1de', '0c7d33aa-1d62-4bb0-8f6c-93f0a0aa71b4']

/** A server of 2024-11-05 that gives each stream its own endpoint; responses come on the stream. */
function serveStreams(endpoint: (session: string) => string): Promise<string> {
  const streams = new Map<string, (text: string) => void>()
  let count = 0
  return stage.serve((request, response) => {
    if (request.method === 'GET') {
      const named = endpoint(sessions[count++]!)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: endpoint\ndata: ${named}\n\n`)
      const say = (text: string): void => void response.write(`event: message\ndata: ${text}\n\n`)
      streams.set(
        new URL(named, 'http://x/deep/mcp').pathname + new URL(named, 'http://x/deep/mcp').search,
        say,
      )
      return
    }
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      response.writeHead(202).end('Accepted')
      const { id, params } = JSON.parse(body) as Line
      streams.get(request.url!)?.(JSON.stringify({ jsonrpc: '2.0', id, result: { asked: params as Line } }))
    })
  })
}

interface LegacyClient {
  readonly came: () => string
  readonly send: (message: object) => Promise<unknown>
  readonly close: () => Promise<void>
}

async function connect(url: string): Promise<LegacyClient> {
  const { came, close } = await openStream(url)
  const endpoint = await until('it says where to POST', () => /^data: (\S+)$/m.exec(came())?.[1])
  const to = new URL(endpoint, url).href
  // With keep-alive, both clients would share a connection.
  const send = (message: object): Promise<unknown> => post(to, message, { connection: 'close' })
  return { came, send, close }
}

const ping = (id: number, who: string): Line => ({ id, method: 'ping', params: { who } })

describe.each([
  ['in the path', (session: string) => `/messages/${session}`],
  ['in a path that is relative', (session: string) => `../post/${session}/in`],
  ['in a parameter of any name', (session: string) => `/messages?transport=sse&s=${session}`],
])('a server of HTTP+SSE that has its session %s', (_, endpoint) => {
  it('has its responses told apart on the tape, without the session', async () => {
    const upstream = new URL(await serveStreams(endpoint))
    const { recorder, url } = await stage.recordUrl(`${upstream.origin}/deep/mcp`)
    const clients = [await connect(url), await connect(url)]
    for (const [n, client] of clients.entries()) await client.send(ping(1, `client ${n}`))
    await until('all is answered', () => clients.every((one) => one.came().includes('asked')))
    for (const one of clients) await one.close()
    const lines = (await stage.end(recorder)).filter(isMessage)
    expect(lines).toHaveLength(4)
    for (const who of ['client 0', 'client 1']) {
      const [request, answer] = lines.filter((line) => JSON.stringify(line).includes(who))
      expect(answer).toMatchObject({ dir: 'out', corr: request!['id'], conv: request!['conv'] })
    }
    expect(new Set(lines.map((line) => line['conv'] as string)).size).toBe(2)
    const tape = readFileSync(stage.tape(), 'utf8')
    for (const session of sessions) expect(tape).not.toContain(session)
    expect(tape).toContain('[REDACTED]')
    // The recorder did not know the transport when its tape began.
    const shown = await wiretape(['inspect', stage.tape(), '--filter', 'transport:sse'])
    expect(shown.stdout).toMatch(/^(\d+) of \1 rows: over sse$/m)
    const converted = await wiretape(['convert', '--to', 'http-sse', stage.tape(), stage.path('as.json')])
    expect(converted.stderr).not.toContain('recording is written as')
    const session = await wiretape(['convert', '--to', 'session-json', stage.tape(), '-'])
    expect(session.stdout).toContain('"transport": "sse"')
    expect(session.stdout).not.toContain('"transport": "streamable-http"')
  })
})
