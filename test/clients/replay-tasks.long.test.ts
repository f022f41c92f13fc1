/**
 * Tasks of 2025-11-25, recorded with the official client and replayed: ids are those of the run, and polling continues
 * to the end.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record, replay, type ReplayResult } from '../../src/index.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, server } from '../behaviour/stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-tasks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a task to its end, polling as the official client does. */
async function recorded(name: string, command: readonly string[], tool: string): Promise<string> {
  const recorder = await record({ command, file: join(folder, `${name}.jsonl`) })
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} }, tasks: { requests: { elicitation: { create: {} } } } } },
  )
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { part: 'the roof', which: 'that one' },
  }))
  await client.connect(new StdioClientTransport({ ...recorder.server, stderr: 'ignore' }))
  await client.listTools()
  const told: string[] = []
  const task = client.experimental.tasks.callToolStream(
    { name: tool, arguments: { what: 'a house', topic: 'houses' } },
    CallToolResultSchema,
    { task: { ttl: 60_000 } },
  )
  for await (const { type } of task) told.push(type)
  expect(told.at(-1)).toBe('result')
  await client.close()
  return recorder.close()
}

const idsIn = ({ messages }: ReplayResult, member: 'original' | 'sent'): string[] =>
  messages
    .filter(({ message }) => message.method === 'tasks/result')
    .map((outcome) => JSON.parse(outcome[member]!).params.taskId)

describe.each([
  ['a server of the official SDK', 'sdk-tasks.mjs', 'build'],
  ['a server by hand', 'task-mcp.mjs', 'research'],
])('a task of %s', (_, file, tool) => {
  let tape = ''
  beforeAll(async () => {
    tape = await recorded(tool, server(file), tool)
  })

  it('is polled by its new id, and has the same outcome', async () => {
    const result = await replay(tape, { command: server(file) })
    expect(result).toMatchObject({ same: true, differences: [] })
    const [then, now] = [idsIn(result, 'original'), idsIn(result, 'sent')]
    expect(then.length).toBeGreaterThan(0)
    expect(now).not.toEqual(then)
    expect(new Set(now).size).toBe(1)
  })

  it('is the same with a mock', async () => {
    const result = await replay(tape, { command: [process.execPath, cli, 'mock', tape] })
    expect(result).toMatchObject({ same: true, differences: [] })
  })
})

describe('a task with another duration', () => {
  let tape = ''
  beforeAll(async () => {
    tape = await recorded('time', server('sdk-tasks.mjs', '100'), 'build')
  })

  it.each([['400'], ['0']])('of %s ms a step is waited for, and is no difference', async (stepMs) => {
    const result = await replay(tape, { command: server('sdk-tasks.mjs', stepMs) })
    expect(result).toMatchObject({ same: true, differences: [] })
  })

  it('is the same in two recordings with other polls', async () => {
    const slow = await recorded('slow', server('sdk-tasks.mjs', '300'), 'build')
    const { code, stdout } = await wiretape(['diff', tape, slow])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Same: /m) })
  })

  it('that does not end in time is reported as a time-out', async () => {
    const slow = server('sdk-tasks.mjs', '60000')
    const { exchanges } = await replay(tape, { command: slow }, { timeoutMs: 6_000 })
    const polls = exchanges.filter(({ method }) => method === 'tasks/get')
    expect(polls.at(-1)!.verdict).toBe('timed out')
  })
})
