/** Real servers from npm, recorded with the official client and replayed: they respond the same, on any transport. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record, replay, type ReplayResult } from '../../src/index.js'
import { cli, until } from '../behaviour/stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-real-'))
const files = join(folder, 'files')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const packageOf = (name: string): string =>
  resolve(import.meta.dirname, `../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)
const everything = [process.execPath, packageOf('everything'), 'stdio']
const filesystem = [process.execPath, packageOf('filesystem'), files]
const memory = [
  'env',
  `MEMORY_FILE_PATH=${join(folder, 'memory.json')}`,
  process.execPath,
  packageOf('memory'),
]

/** Some texts of the servers contain the time of day. */
const clocks = { match: { '$..text': 'timestamp' } }
const nothing = { differences: [], same: true }

type Tool = (name: string, args?: Record<string, unknown>, options?: object) => Promise<unknown>

async function recorded(
  name: string,
  command: readonly string[],
  scenario: (client: Client, tool: Tool) => Promise<void>,
): Promise<string> {
  const recorder = await record({ command, file: join(folder, `${name}.jsonl`) })
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} } },
  )
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: `file://${files}`, name: 'files' }],
  }))
  const content = { type: 'text' as const, text: 'a haiku' }
  client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: 'none', role: 'assistant', content }))
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ann' } }))
  await client.connect(new StdioClientTransport({ ...recorder.server, stderr: 'ignore' }))
  await client.listTools()
  await scenario(client, (tool, args = {}, options = {}) =>
    client.callTool({ name: tool, arguments: args }, undefined, options).catch((error: unknown) => error),
  )
  await client.close()
  return recorder.close()
}

/** The everything server over HTTP, and its URL. */
async function listening(mode: 'streamableHttp' | 'sse'): Promise<{ url: string; child: ChildProcess }> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => probe.once('listening', done))
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  const env = { ...process.env, PORT: String(port) }
  const child = spawn(process.execPath, [packageOf('everything'), mode], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()))
  await until('it listens', () => /listening on port|running on port/i.test(said))
  return { url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`, child }
}

/** Replays over HTTP, with a bridge in front of the server. */
async function replayOverHttp(tape: string, command: readonly string[]): Promise<ReplayResult> {
  const options = ['--listen', '127.0.0.1:0', '--out', join(folder, 'bridged')]
  const bridge = spawn(process.execPath, [cli, 'record', ...options, '--', ...command], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = new Promise((done) => bridge.once('close', done))
  try {
    let said = ''
    bridge.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    await until('it listens', () => said.includes('\n'))
    return await replay(tape, { url: said.trim() })
  } finally {
    bridge.kill('SIGINT')
    await closed
  }
}

describe('the everything server', () => {
  let tape = ''
  const children: ChildProcess[] = []
  afterAll(() => children.map((child) => child.kill('SIGKILL')))
  beforeAll(async () => {
    tape = await recorded('everything', everything, async (client, tool) => {
      // First, because the server requests roots by itself after 350 ms: at the same time it would request them twice.
      await tool('get-roots-list')
      await tool('echo', { message: 'hi' })
      await tool('get-sum', { a: 1, b: 2 })
      await tool('get-structured-content', { location: 'New York' })
      await tool(
        'trigger-long-running-operation',
        { duration: 0.2, steps: 2 },
        { onprogress: () => undefined },
      )
      await tool('trigger-sampling-request', { prompt: 'a haiku', maxTokens: 10 })
      await tool('trigger-elicitation-request')
      await tool('get-resource-reference', { resourceType: 'Text', resourceId: 1 })
      await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Paris' } })
      await client.listResources()
      await client.readResource({ uri: 'demo://resource/dynamic/text/1' })
      const stop = new AbortController()
      const onprogress = (): void => stop.abort('enough')
      await tool(
        'trigger-long-running-operation',
        { duration: 20, steps: 200 },
        { signal: stop.signal, onprogress },
      )
    })
  })

  it('responds the same on stdio: sampling, elicitation, roots, progress, cancellation', async () => {
    const result = await replay(tape, { command: everything }, clocks)
    expect(result).toMatchObject(nothing)
    const asked = result.exchanges.filter(({ direction }) => direction === 'server_to_client')
    expect(asked.map(({ method }) => method).toSorted()).toEqual([
      'elicitation/create',
      'roots/list',
      'sampling/createMessage',
    ])
  })

  it.each([
    ['streamableHttp', 'streamable-http'],
    ['sse', 'sse'],
  ] as const)('responds the same over %s', async (mode, transport) => {
    const { url, child } = await listening(mode)
    children.push(child)
    expect(await replay(tape, { url, transport }, clocks)).toMatchObject(nothing)
  })
})

it('the filesystem server responds the same, and changes in its folder are found', async () => {
  mkdirSync(files, { recursive: true })
  writeFileSync(join(files, 'a.txt'), 'one')
  const tape = await recorded('filesystem', filesystem, async (_, tool) => {
    await tool('list_directory', { path: files })
    await tool('read_text_file', { path: join(files, 'a.txt') })
    await tool('read_text_file', { path: join(files, 'none.txt') })
  })
  expect(await replay(tape, { command: filesystem })).toMatchObject(nothing)
  expect(await replayOverHttp(tape, filesystem)).toMatchObject(nothing)
  writeFileSync(join(files, 'a.txt'), 'two')
  const { differences } = await replay(tape, { command: filesystem })
  expect(differences).toEqual([
    expect.stringMatching(
      /^changed: tools\/call read_text_file\n {2}~ result\.content\[0\]\.text "one" → "two"\n {2}~ result\.structuredContent\.content "one" → "two"$/,
    ),
  ])
})

it('the memory server responds the same from an empty memory, and differs from a full one', async () => {
  const tape = await recorded('memory', memory, async (_, tool) => {
    const ann = { name: 'Ann', entityType: 'person', observations: ['is kind'] }
    await tool('create_entities', { entities: [ann] })
    await tool('read_graph')
  })
  const full = await replay(tape, { command: memory })
  expect(full.differences).toHaveLength(1)
  for (const again of [() => replay(tape, { command: memory }), () => replayOverHttp(tape, memory)]) {
    rmSync(join(folder, 'memory.json'))
    expect(await again()).toMatchObject(nothing)
  }
})
