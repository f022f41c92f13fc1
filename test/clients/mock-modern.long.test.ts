import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it } from 'vitest'
import { cli, printed, server, until, type Actor, useStage } from '../behaviour/stage.js'
import { linesOfType } from '../behaviour/tape-bytes.js'

const stage = useStage()

type Transport = Parameters<Client['connect']>[0]

async function serving(argv: readonly string[]): Promise<{ actor: Actor; url: string }> {
  const actor = stage.start(argv, { detached: true })
  await printed(actor, '\n')
  return { actor, url: actor.stdout().toString().split('\n')[0]! }
}

const ours = (...args: string[]): string[] => [process.execPath, cli, ...args]

async function ended({ actor }: { actor: Actor }): Promise<void> {
  actor.child.kill('SIGTERM')
  expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
}

/**
 * Version 2 starts another process first to find the era of the server. That process has its own recording, the first.
 */
const mainTape = (): string => stage.tapes().at(-1)!

const overHttp = (url: string): Transport => new StreamableHTTPClientTransport(new URL(url))
const onStdio = (argv: readonly string[]): Transport =>
  new StdioClientTransport({
    command: argv[0]!,
    args: argv.slice(1),
    env: stage.env as Record<string, string>,
    stderr: 'ignore',
  })

/** Outcomes of a 2026-07-28 client with a server that has these tools. */
async function use(transport: Transport, name = 'test-client'): Promise<unknown[]> {
  const outcomes: unknown[] = []
  const step = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    const outcome = await run().catch((error: unknown) => ({ error: String(error), ...(error as object) }))
    outcomes.push([name, outcome ?? null])
  }
  const client = new Client(
    { name, version: '2.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const questions: unknown[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    questions.push(params)
    return { action: 'accept', content: { ok: true } }
  })
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
  const tool = (name: string, args: Record<string, unknown> = {}): Promise<void> =>
    step(name, () => client.callTool({ name, arguments: args }))
  await step('connect', () => client.connect(transport))
  outcomes.push(['server', [client.getServerVersion(), client.getServerCapabilities()]])
  await step('tools', () => client.listTools())
  await tool('echo', { text: 'ÅÄÖ 🎞', place: 'Malmö' })
  await tool('fail')
  await tool('book', { what: 'a table' })
  await step('at the same time', () =>
    Promise.all(['a room', 'a boat'].map((what) => client.callTool({ name: 'book', arguments: { what } }))),
  )
  // The client drops a progress notification that arrives together with the response, so these are not compared.
  await step('steps', () => client.callTool({ name: 'steps' }, { onprogress: () => undefined }))
  // Simultaneous input requests come in any order.
  outcomes.push(questions.map((question) => JSON.stringify(question)).toSorted())
  await step('cancelled', () => {
    const stop = new AbortController()
    return client.callTool({ name: 'slow' }, { signal: stop.signal, onprogress: () => stop.abort('enough') })
  })
  await step('listen', async () => {
    const subscription = await client.listen({ toolsListChanged: true })
    const before = changes
    await client.callTool({ name: 'grow' })
    await until('the change is announced', () => changes > 0)
    await subscription.close()
    return [subscription.honoredFilter, await subscription.closed, before, changes]
  })
  await step('tools again', () => client.listTools())
  await tool('grown')
  await tool('no-such-tool')
  await step('no such method', () => client.request({ method: 'resources/read', params: { uri: 'x://y' } }))
  await step('close', () => client.close())
  return outcomes
}

describe('the official client, version 2, in the 2026-07-28 era', () => {
  it('cannot tell the mock from the server over HTTP', async () => {
    const upstream = await serving(server('sdk-modern-http.mjs'))
    const recorder = await serving(ours('record', '--url', upstream.url, '--out', stage.out))
    const real = await use(overHttp(recorder.url))
    await ended(recorder)
    for (const sign of ['Booked a boat', 'Did 3 steps', 'enough', 'I am new', '-32601']) {
      expect(JSON.stringify(real)).toContain(sign)
    }
    const mock = await serving(ours('mock', stage.tape(), '--listen', '0'))
    expect(await use(overHttp(mock.url))).toEqual(real)
    const again = await Promise.all([use(overHttp(mock.url)), use(overHttp(mock.url), 'another client')])
    expect(again).toEqual([real, real])
    for (const method of ['GET', 'DELETE']) expect((await fetch(mock.url, { method })).status).toBe(405)
    await ended(mock)
  })

  it('cannot tell the mock from the server on stdio, nor that mock over HTTP', async () => {
    const command = server('sdk-modern.mjs')
    const real = await use(onStdio(stage.record(command)))
    expect(JSON.stringify(real)).toContain('Booked a table')
    expect(await use(onStdio(ours('mock', ...stage.tapes())))).toEqual(real)
    const mock = await serving(ours('mock', ...stage.tapes(), '--listen', '0'))
    // Over HTTP an unknown method is a 404, which this client reports as such.
    const comparable = (outcomes: unknown[]): unknown[] =>
      outcomes.filter((outcome) => !Array.isArray(outcome) || outcome[0] !== 'no such method')
    expect(comparable(await use(overHttp(mock.url)))).toEqual(comparable(real))
    await ended(mock)
  })

  it('gets a state of the mock where the recorded one was redacted, and the mock matches its retry by that state', async () => {
    const command = server('modern-mcp.mjs')
    const book = async (argv: readonly string[]): Promise<unknown> => {
      const client = new Client(
        { name: 'test-client', version: '2.0.0' },
        { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      client.setRequestHandler('elicitation/create', async () => ({
        action: 'accept',
        content: { ok: true },
      }))
      await client.connect(onStdio(argv))
      const things = ['a table', 'a room', 'a boat']
      const booked = await Promise.all(
        things.map((what) => client.callTool({ name: 'book', arguments: { what } })),
      )
      await client.close()
      return booked
    }
    const uuid = '[0-9a-f]{8}-[0-9a-f-]{27}'
    const real = await book(stage.record(command, ['--redact', uuid]))
    const states = linesOfType(mainTape(), undefined).map(({ raw }) => raw.result?.requestState)
    expect(states.filter(Boolean)).toEqual(['[REDACTED]', '[REDACTED]', '[REDACTED]'])
    expect(await book(ours('mock', mainTape()))).toEqual(real)
  })
})
