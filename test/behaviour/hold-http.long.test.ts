import { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage } from './http-stage.js'
import { printed, server } from './stage.js'
import { useHeldHttp } from './hold-http-stage.js'

const { stage, record } = useHeldHttp()

describe('the official client of 2026-07-28', () => {
  it('gets the response to the edited call, whose headers agree with it', async () => {
    const upstream = stage.start(server('sdk-modern-http.mjs'))
    await printed(upstream, '\n')
    const { recorder, url } = await record(
      upstream.stdout().toString().split('\n')[0]!,
      '--break',
      'method:tools/call is:request',
    )
    const client = new Client(
      { name: 'c', version: '1' },
      { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await client.listTools()
    const screen = await attach(stage)
    const answer = client.callTool({ name: 'echo', arguments: { text: 'before', place: 'Malmö' } })
    const held = await screen.held()
    expect(held).toMatchObject({ exchange: expect.any(Number), direction: 'client_to_server' })
    const text = held['text'].replace('before', 'after').replace('Malmö', 'Åbo')
    await screen.tell({ type: 'edit', message: held['message'], text })
    expect(JSON.stringify(await answer)).toContain('after')
    const lines = await stage.end(recorder)
    await client.close()
    const sent = lines.find((line) => isMessage(line) && line['modified'])
    expect(sent).toMatchObject({
      id: held['message'],
      raw: { params: { arguments: { text: 'after', place: 'Åbo' } } },
      original: { params: { arguments: { text: 'before', place: 'Malmö' } } },
    })
    expect(lines.find((line) => line['corr'] === held['message'])).toBeDefined()
  })
})

describe('the official client of 2025-11-25', () => {
  it('gets the response to the edited call, and an edited response in its stream', async () => {
    const upstream = stage.start(server('sdk-resumable-http.mjs'))
    await printed(upstream, '\n')
    const { recorder, url } = await record(upstream.stdout().toString().split('\n')[0]!)
    const client = new Client2025({ name: 'c', version: '1' })
    await client.connect(new Transport2025(new URL(url)))
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(0)
    const screen = await attach(stage)
    await screen.tell({ type: 'breakpoints', filters: ['method:ping'] })
    await screen.tell({ type: 'hold', on: true })
    const answer = client.ping()
    await screen.tell({ type: 'forward', message: (await screen.held())['message'] })
    const held = await screen.held(2)
    expect(held).toMatchObject({ direction: 'server_to_client' })
    await screen.tell({
      type: 'edit',
      message: held['message'],
      text: held['text'].replace('"result":{}', '"result":{"_meta":{"edited":true}}'),
    })
    expect(await answer).toEqual({ _meta: { edited: true } })
    const lines = await stage.end(recorder)
    await client.close()
    expect(lines.find((line) => isMessage(line) && line['modified'])).toMatchObject({
      dir: 'out',
      raw: { result: { _meta: { edited: true } } },
      original: { result: {} },
    })
  })
})
