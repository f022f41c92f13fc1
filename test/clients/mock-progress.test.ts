import { writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { afterAll, describe, expect, it } from 'vitest'
import { mock } from '../../src/index.js'
import { createStage } from '../behaviour/stage.js'

const stage = createStage()
afterAll(() => stage.close())

const calls = 5

/** A tool that was called `calls` times, and reported progress three times, 40 ms apart. */
function writeTape(path: string): void {
  const t = '2026-08-01T10:00:00.000Z'
  const lines: object[] = [{ v: 1, type: 'meta', startedAt: t, label: 'x', command: ['x'] }]
  let us = 0
  const add = (dir: 'in' | 'out', ms: number, raw: object): void => {
    us += ms * 1000
    lines.push({ t, us, dir, raw: { jsonrpc: '2.0', ...raw } })
  }
  const protocolVersion = '2025-11-25'
  const clientInfo = { name: 'x', version: '1' }
  add('in', 1, { id: 0, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } })
  const serverInfo = { name: 'x', version: '1' }
  add('out', 1, { id: 0, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } })
  add('in', 1, { method: 'notifications/initialized' })
  for (let id = 1; id <= calls; id += 1) {
    const params = { name: 'slow', arguments: { id }, _meta: { progressToken: id } }
    add('in', 1, { id, method: 'tools/call', params })
    for (const progress of [1, 2, 3])
      add('out', 40, { method: 'notifications/progress', params: { progressToken: id, progress, total: 3 } })
    add('out', 40, { id, result: { content: [{ type: 'text', text: `done ${id}` }] } })
  }
  lines.push({ t, type: 'end', exitCode: 0, durationMs: us / 1000 })
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

const info = { name: 'x', version: '1' }
interface Caller {
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    options: { onprogress: (progress: { progress: number }) => void },
  ): Promise<unknown>
  close(): Promise<void>
}

type Transport = StdioServerTransport

/** The clients of either version, connected to the mock of the tape. */
const clients: readonly [version: string, connect: (transport: Transport) => Promise<Caller>][] = [
  [
    '1',
    async (transport) => {
      const client = new ClientV1(info)
      await client.connect(transport)
      return {
        callTool: (params, options) => client.callTool(params, undefined, options),
        close: () => client.close(),
      }
    },
  ],
  [
    '2',
    async (transport) => {
      const client = new ClientV2(info, { versionNegotiation: { mode: 'legacy' } })
      await client.connect(transport)
      return client
    },
  ],
]

describe('the mock at its own pace, on stdio', () => {
  it.each(clients)(
    'lets the official client, version %s, see all progress before the answer',
    async (_, connect) => {
      const tape = stage.path('slow.jsonl')
      writeTape(tape)
      // Both run in one process, so that a client on a busy machine gets its turn between two messages.
      const [input, output] = [new PassThrough(), new PassThrough()]
      const server = await mock(tape, { streams: { input, output } })
      const client = await connect(new StdioServerTransport(output, input))
      const seen: number[][] = []
      for (let id = 1; id <= calls; id += 1) {
        const progresses: number[] = []
        await client.callTool(
          { name: 'slow', arguments: { id } },
          { onprogress: ({ progress }) => void progresses.push(progress) },
        )
        seen.push(progresses)
      }
      await client.close()
      await server.close()
      expect(seen).toEqual(Array.from({ length: calls }, () => [1, 2, 3]))
    },
  )
})
