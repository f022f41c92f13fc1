/**
 * A recording as a regression test: record a client and a server once, compare every later version of the server with
 * the recording, and run clients without the server.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mock, readRecording, record, replay } from 'wiretape'

const server = (currency: string): string[] => [
  process.execPath,
  join(import.meta.dirname, 'server.mjs'),
  currency,
]
// A project would commit its recording beside its tests; this example records it in each run.
const folder = mkdtempSync(join(tmpdir(), 'wiretape-example-'))
const baseline = join(folder, 'baseline.jsonl')

beforeAll(async () => {
  const recorder = await record({ command: server('EUR'), file: baseline })
  const client = new Client({ name: 'example', version: '1.0.0' })
  await client.connect(new StdioClientTransport(recorder.server))
  await client.listTools()
  await client.callTool({ name: 'price', arguments: { item: 'tea' } })
  await client.close()
  await recorder.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the recording can be read', async () => {
  const recording = await readRecording(baseline)
  const asked: string[] = []
  for await (const { request, answer } of recording.exchanges())
    asked.push(`${request.method}: ${answer?.kind}`)
  expect(asked).toEqual(['initialize: result', 'tools/list: result', 'tools/call: result'])
})

test('the server answers as it did', async () => {
  const result = await replay(baseline, { command: server('EUR') })
  expect(result.differences).toEqual([])
})

test('a changed result is reported', async () => {
  const result = await replay(baseline, { command: server('USD') })
  expect(result.differences).toEqual([
    'changed: tools/call price\n  ~ result.content[0].text.currency "EUR" → "USD"',
  ])
})

test('a client works without the server', async () => {
  const shop = await mock(baseline)
  const client = new Client({ name: 'example', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(shop.url)))
  const { content } = await client.callTool({ name: 'price', arguments: { item: 'tea' } })
  expect(content).toMatchObject([{ type: 'text', text: expect.stringContaining('4.5') }])
  await client.close()
  await shop.close()
})
