import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { cli, printed, server, useStage } from '../behaviour/stage.js'
import { overStdio } from './bridge-uses.js'

const stage = useStage()

/** Runs two tasks; returns all messages that the client received about them. */
async function use(transport: Transport): Promise<unknown[]> {
  const client = new Client(
    { name: 'c', version: '1' },
    { capabilities: { elicitation: { form: {} }, tasks: { requests: { elicitation: { create: {} } } } } },
  )
  const told: unknown[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    told.push(params.message)
    return { action: 'accept', content: { which: 'that one' } }
  })
  await client.connect(transport)
  await client.listTools()
  for (const topic of ['one', 'two']) {
    const task = client.experimental.tasks.callToolStream(
      { name: 'research', arguments: { topic } },
      CallToolResultSchema,
      { task: { ttl: 60_000 } },
    )
    for await (const message of task) told.push(message)
  }
  await client.close()
  return told
}

describe('a client that runs tasks', () => {
  it('cannot tell the mock from the server, on stdio or over HTTP', async () => {
    const real = await use(overStdio(stage, stage.record(server('task-mcp.mjs'))))
    for (const sign of ['"taskCreated"', '"input_required"', 'Which?', 'Found that one']) {
      expect(JSON.stringify(real)).toContain(sign)
    }
    expect(await use(overStdio(stage, [process.execPath, cli, 'mock', stage.tape()]))).toEqual(real)
    const mock = stage.start([process.execPath, cli, 'mock', stage.tape(), '--listen', '0'], {
      detached: true,
    })
    await printed(mock, '\n')
    const url = new URL(mock.stdout().toString().trim())
    expect(await use(new StreamableHTTPClientTransport(url))).toEqual(real)
  })
})
