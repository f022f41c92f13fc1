import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage } from './http-stage.js'
import { until } from './stage.js'
import { connect, endpoints, ping, useLegacyServers } from './legacy-stage.js'

const { stage, serveStreams } = useLegacyServers()

describe.each(endpoints)('a server of HTTP+SSE that has its session %s', (_, endpoint) => {
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
