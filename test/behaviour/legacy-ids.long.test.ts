import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, openStream, post, useHttpStage } from './http-stage.js'
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
  it('gets a request under another id, whose response has the original id and matches filters about the request', async () => {
    const upstream = new URL(await serveStreams(endpoint))
    const { recorder, url } = await stage.recordUrl(`${upstream.origin}/deep/mcp`)
    const client = await connect(url)
    const screen = await attach(stage)
    await screen.tell({ type: 'breakpoints', filters: ['method:ping'] })
    await screen.tell({ type: 'hold', on: true })
    const sent = client.send(ping(7, 'me'))
    const request = await screen.held()
    await screen.tell({
      type: 'edit',
      message: request['message'],
      text: (request['text'] as string).replace('"id":7', '"id":99'),
    })
    await sent
    const answer = await screen.held(2)
    expect(answer).toMatchObject({ direction: 'server_to_client', conversation: request['conversation'] })
    await screen.tell({ type: 'forward', message: answer['message'] })
    await until('it is answered', () => client.came().includes('asked'))
    expect(client.came()).toContain('{"jsonrpc":"2.0","id":7,"result"')
    // The response to a dropped message comes on the stream, as all responses do.
    void client.send(ping(8, 'dropped'))
    await screen.tell({ type: 'drop', message: (await screen.held(3))['message'] })
    await until('that is answered', () => client.came().includes('wiretape: dropped'))
    await client.close()
    screen.close()
    await stage.end(recorder)
  })
})

it('an endpoint that two open streams name is a guess, and no link is made on it', async () => {
  const upstream = await serveStreams(() => '/messages')
  const { recorder, url } = await stage.recordUrl(upstream)
  const clients = [await connect(url), await connect(url)]
  await clients[0]!.send(ping(1, 'anybody'))
  await until('it is answered', () => clients[1]!.came().includes('asked'))
  for (const one of clients) await one.close()
  const [request, answer] = (await stage.end(recorder)).filter(isMessage)
  expect(request!['conv']).not.toBe(answer!['conv'])
  expect(answer).not.toHaveProperty('corr')
})
