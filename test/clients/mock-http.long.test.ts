import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { cli, postHeaders, printed, server, type Actor, useStage } from '../behaviour/stage.js'
import { startEverything } from './everything.js'
import {
  byText,
  everything,
  memory,
  mini,
  packaged,
  talk,
  talkOver,
  type Scenario,
  type Seen,
} from './scenarios.js'

const stage = useStage()
beforeEach(() => {
  mkdirSync(stage.path('files'))
})
/** Starts a wiretape command that prints a URL. */
async function serving(...args: string[]): Promise<{ actor: Actor; url: string }> {
  const actor = stage.start([process.execPath, cli, ...args], { detached: true })
  await printed(actor, '\n')
  return { actor, url: actor.stdout().toString().trim() }
}

async function ended({ actor }: { actor: Actor }): Promise<void> {
  actor.child.kill('SIGTERM')
  expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
}

const transports: Record<string, (url: string) => Transport> = {
  'streamable-http': (url) => new StreamableHTTPClientTransport(new URL(url)),
  sse: (url) => new SSEClientTransport(new URL(url)),
}

function expectSame(mocked: Seen, real: Seen): void {
  expect(mocked.outcomes).toEqual(real.outcomes)
  expect(byText(mocked.sent)).toEqual(byText(real.sent))
  expect(byText(mocked.received)).toEqual(byText(real.received))
}

/** Statuses of requests within a session, each with one fault. */
async function refusals(url: string): Promise<number[]> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const opened = await fetch(url, { method: 'POST', headers: postHeaders, body: initialize })
  await opened.text()
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')! }
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const { accept } = postHeaders
  const wrong: [string, Record<string, string>, string?][] = [
    ['POST', { ...postHeaders, ...session, 'content-type': 'text/plain' }, body],
    ['POST', { ...postHeaders, ...session, 'content-type': 'application/jsonp' }, body],
    ['POST', { ...postHeaders, ...session, accept: '*/*' }, body],
    ['POST', { ...postHeaders, ...session, accept: 'application/json' }, body],
    ['POST', { ...postHeaders, ...session }, '{'],
    ['POST', postHeaders, body],
    ['GET', { ...session, accept: 'application/json' }],
    ['GET', { accept }],
    ['DELETE', {}],
  ]
  const statuses: number[] = []
  for (const [method, headers, text] of wrong) {
    const response = await fetch(url, { method, headers, ...(text !== undefined && { body: text }) })
    await response.text()
    statuses.push(response.status)
  }
  return statuses
}

describe('the official client, version 1, over HTTP', () => {
  it.each([
    ['streamable-http', 'streamableHttp'],
    ['sse', 'sse'],
  ] as const)('cannot tell the mock from server-everything (%s)', async (transport, argument) => {
    const upstream = await startEverything(argument)
    const recorder = await serving('record', '--url', upstream, '--out', stage.out)
    const real = await talkOver(stage, transports[transport]!(recorder.url), everything)
    await ended(recorder)

    const mock = await serving('mock', stage.tape(), '--listen', '0')
    expect(new URL(mock.url).pathname).toBe(new URL(upstream).pathname)
    const mocked = await talkOver(stage, transports[transport]!(mock.url), everything)

    expectSame(mocked, real)
    const withoutEnd = (problems: string[]): string[] => problems.filter((text) => !/AbortError/.test(text))
    expect(withoutEnd(mocked.problems)).toEqual(withoutEnd(real.problems))
    // A second client gets the same from the start, while the mock runs.
    expectSame(await talkOver(stage, transports[transport]!(mock.url), everything), real)
    await ended(mock)
    expect(mock.actor.stderr().toString()).toMatch(/ 0 unmatched calls\n$/)
  })

  it('gets from the mock the statuses that it gets from server-everything', async () => {
    const upstream = await startEverything('streamableHttp')
    const recorder = await serving('record', '--url', upstream, '--out', stage.out)
    await talkOver(stage, transports['streamable-http']!(recorder.url), mini)
    await ended(recorder)
    const mock = await serving('mock', stage.tape(), '--listen', '0')
    const [real, mocked] = [await refusals(upstream), await refusals(mock.url)]
    expect(mocked).toEqual(real)
    expect(new Set(mocked)).toEqual(new Set([400, 406, 415]))
    await ended(mock)
  })

  it.each([
    ['server-everything', packaged('@modelcontextprotocol/server-everything', 'stdio'), everything],
    ['server-memory', packaged('@modelcontextprotocol/server-memory'), memory],
    ['a server with everything that is hard to play', server('mini-mcp.mjs'), mini],
  ])('gets the recorded responses from a stdio recording of %s', async (_, command, scenario) => {
    const real = await talk(stage, stage.record(command), scenario)
    rmSync(stage.path('memory.jsonl'), { force: true })
    for (const transport of ['streamable-http', 'sse']) {
      const mock = await serving('mock', stage.tape(), '--listen', '0', '--transport', transport)
      expectSame(await talkOver(stage, transports[transport]!(mock.url), scenario), real)
      await ended(mock)
    }
  })

  it('cannot tell the mock from a server without sessions, on any connections', async () => {
    const scenario: Scenario = async (client, step) => {
      const count = (): Promise<unknown> => client.callTool({ name: 'count' })
      await step('one', count)
      await step('tools', () => client.listTools())
      await step('many', async () => {
        const answers = await Promise.all([count(), count(), count(), client.ping()])
        return answers.map((answer) => JSON.stringify(answer)).toSorted()
      })
      await step('last', count)
    }
    const upstream = stage.start(server('sdk-stateless-http.mjs'))
    await printed(upstream, '\n')
    const recorder = await serving('record', '--url', upstream.stdout().toString().trim(), '--out', stage.out)
    const overHttp = transports['streamable-http']!
    const real = await talkOver(stage, overHttp(recorder.url), scenario)
    await ended(recorder)
    const mock = await serving('mock', stage.tape(), '--listen', '0')
    for (let client = 0; client < 2; client += 1)
      expect((await talkOver(stage, overHttp(mock.url), scenario)).outcomes).toEqual(real.outcomes)
    await ended(mock)
  })

  it('gets its own secrets back, which the recording does not have', async () => {
    const secrets = ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'ghp_zyxwvutsrqponmlkjihgfedcba9876543210']
    const scenario: Scenario = async (client, step) => {
      for (const text of [...secrets, ...secrets.toReversed()])
        await step('echo', () => client.callTool({ name: 'echo', arguments: { text: `key ${text} given` } }))
    }
    const real = await talk(stage, stage.record(server('mini-mcp.mjs')), scenario)
    expect(JSON.stringify(real.outcomes)).toContain(secrets[1])
    expect(readFileSync(stage.tape(), 'utf8')).not.toContain('ghp_')
    expectSame(await talk(stage, [process.execPath, cli, 'mock', stage.tape()], scenario), real)
    const mock = await serving('mock', stage.tape(), '--listen', '0')
    expectSame(await talkOver(stage, transports['streamable-http']!(mock.url), scenario), real)
    await ended(mock)
  })
})
