/**
 * `wiretape mcp --allow-run`: an agent finds a fault in a recording, the server is fixed, and the agent calls it and
 * replays the session.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { printed, server, until, useStage } from './stage.js'
import { linesOfTape } from './tape-bytes.js'

const program = resolve(import.meta.dirname, '../../dist/bin/wiretape.js')
/** The schema of responses that the client does not check. */
const anything = z.looseObject({})
const fault = { outputSchema: { type: 'object', properties: { n: { type: 'number' } } } }
const tool = { name: 'add', description: 'Adds two numbers.', inputSchema: { type: 'object' } }

const stage = useStage()
let clients: Client[] = []
beforeEach(() => {
  mkdirSync(recordings(), { recursive: true })
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  clients = []
})

const recordings = (): string => stage.path('data/wiretape/recordings')
const env = (): Record<string, string> => ({
  ...(stage.env as Record<string, string>),
  XDG_DATA_HOME: stage.path('data'),
})
const offer = (...tools: object[]): void => writeFileSync(stage.path('tools.json'), JSON.stringify(tools))

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' })
  clients.push(client)
  await client.connect(transport)
  return client
}

const stdio = (...args: string[]): Promise<Client> =>
  connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, ...args],
      env: env(),
      cwd: stage.folder,
      stderr: 'ignore',
    }),
  )

async function overHttp(): Promise<Client> {
  const argv = [process.execPath, program, 'mcp', '--allow-run', '--listen', '127.0.0.1:0']
  const actor = stage.start(argv, { env: env() })
  await printed(actor, '/mcp')
  const [url = ''] = actor.stdout().toString().split('\n')
  return connect(new StreamableHTTPClientTransport(new URL(url)))
}

/** A session with a server, recorded under a name. */
async function record(
  name: string,
  command: string[],
  use: (client: Client) => Promise<unknown>,
): Promise<void> {
  const client = await stdio('record', '--out', recordings(), '--label', name, '--', ...command)
  await use(client)
  await client.close()
}

interface Answer {
  readonly about: Record<string, unknown>
  readonly items: Record<string, unknown>[]
}

/** The official client itself checks structuredContent against the outputSchema of the tool. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Answer> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args })
  expect({ content, isError }).toMatchObject({ content: [{ type: 'text' }] })
  expect(isError).toBeUndefined()
  return structuredContent as Answer
}

describe.each([
  ['stdio', () => stdio('mcp', '--allow-run')],
  ['Streamable HTTP', overHttp],
] as const)('wiretape mcp --allow-run over %s', (_, agentOn) => {
  it('lets an agent find a fault, call the fixed server, and replay the session', async () => {
    offer({ ...tool, ...fault })
    await record('calc', server('drifting-mcp.mjs', stage.path('tools.json')), async (client) => {
      await client.request({ method: 'tools/list' }, anything)
      await client.request(
        { method: 'tools/call', params: { name: 'add', arguments: { say: 'five' } } },
        anything,
      )
    })
    const agent = await agentOn()
    await agent.listTools()
    const { items: found } = await call(agent, 'list_recordings')
    const recording = found[0]!['name']
    expect(recording).toMatch(/calc.*\.jsonl$/)
    const { items: hits } = await call(agent, 'find_messages', { filter: 'tool:add', recording })
    const { items: exchange } = await call(agent, 'get_exchange', { recording, number: hits[0]!['sequence'] })
    expect(exchange.map(({ kind }) => kind)).toEqual(['request', 'result'])
    const { items: faults } = await call(agent, 'findings', { recording })
    expect(faults).toMatchObject([{ rule: 'schemas/output', tool: 'add' }])

    expect(await call(agent, 'replay', { recording })).toMatchObject({ about: { same: true }, items: [] })
    offer(tool)
    const again = await call(agent, 'call_tool', { recording, tool: 'add', arguments: { say: 'six' } })
    expect(again.items).toEqual([{ result: { content: [{ type: 'text', text: 'six' }] } }])
    const lines = linesOfTape(join(recordings(), again.about['recording'] as string))
    expect(JSON.stringify(lines)).toContain('"say":"six"')
    const { about, items } = await call(agent, 'replay', { recording })
    expect(about['same']).toBe(false)
    expect(items).toMatchObject([{ kind: 'tool', name: 'add' }])
  })
})

describe('wiretape mcp', () => {
  it('has no acting tool without --allow-run, and annotates those with it as not read-only', async () => {
    const careful = await stdio('mcp')
    const names = (await careful.listTools()).tools.map(({ name }) => name)
    expect(names).not.toContain('call_tool')
    expect(names).not.toContain('replay')
    await expect(careful.callTool({ name: 'replay', arguments: { recording: 'x' } })).rejects.toThrow(
      'unknown tool',
    )
    const { tools } = await (await stdio('mcp', '--allow-run')).listTools()
    const acting = tools.filter(({ annotations }) => annotations?.readOnlyHint === false)
    expect(acting.map(({ name }) => name)).toEqual(['call_tool', 'replay'])
    for (const { annotations } of acting)
      expect(annotations).toMatchObject({ destructiveHint: true, openWorldHint: true })
  })

  it('declares the shape of each result', async () => {
    const { tools } = await (await stdio('mcp', '--allow-run')).listTools()
    const shapes = tools.map(({ outputSchema }) => JSON.stringify(outputSchema))
    expect(tools.every(({ outputSchema }) => outputSchema?.type === 'object')).toBe(true)
    // get_message and get_exchange, diff and replay return the same kinds of things, with other facts about them.
    expect(new Set(shapes).size).toBe(tools.length)
  })

  it('runs no command that another user recorded or that was changed since', async () => {
    writeFileSync(stage.path('state.json'), JSON.stringify({ version: '1', tools: ['version'] }))
    await record('own', server('changing-mcp.mjs', stage.path('state.json')), (client) => client.listTools())
    const [name = ''] = readdirSync(recordings())
    const tape = readFileSync(join(recordings(), name), 'utf8')
    const origin = /,"origin":"[0-9a-f]{64}"/
    expect(tape).toMatch(origin)
    writeFileSync(join(recordings(), 'changed.jsonl'), tape.replace('changing-mcp.mjs', 'drifting-mcp.mjs'))
    writeFileSync(join(recordings(), 'older.jsonl'), tape.replace(origin, ''))
    const agent = await stdio('mcp', '--allow-run')
    const args = { tool: 'version', arguments: {} }
    for (const recording of ['changed.jsonl', 'older.jsonl'])
      for (const tried of ['call_tool', 'replay'])
        expect(
          await agent.callTool({
            name: tried,
            arguments: { recording, ...(tried === 'call_tool' && args) },
          }),
        ).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining(`cannot verify that ${recording} was recorded`) }],
        })
    expect((await call(agent, 'call_tool', { recording: name, ...args })).items).toHaveLength(1)
  })

  it('answers a ping while a call runs, and ends a call that is cancelled', async () => {
    writeFileSync(stage.path('state.json'), JSON.stringify({ version: '1', tools: ['hang', 'version'] }))
    await record('slow', server('changing-mcp.mjs', stage.path('state.json')), (client) => client.listTools())
    const agent = await stdio('mcp', '--allow-run')
    const cancel = new AbortController()
    const args = { recording: 'slow', tool: 'hang', timeoutMs: 120_000 }
    const hanging = agent.callTool({ name: 'call_tool', arguments: args }, undefined, {
      signal: cancel.signal,
      timeout: 120_000,
    })
    hanging.catch(() => undefined)
    await agent.ping()
    cancel.abort()
    await expect(hanging).rejects.toThrow('aborted')
    const { items } = await call(agent, 'call_tool', { recording: 'slow', tool: 'version' })
    expect(JSON.stringify(items)).toContain('\\"1\\"')
  })

  it('acknowledges a subscription of the modern era, and honours none of it', async () => {
    const actor = stage.start([process.execPath, program, 'mcp'], { env: env() })
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { _meta, notifications: { toolsListChanged: true } }
    await actor.send(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params })}\n`)
    await until('it is acknowledged', () => actor.stdout().toString().includes('\n'))
    expect(JSON.parse(actor.stdout().toString())).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 7 }, notifications: {} },
    })
  })
})
