import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { mock } from '../../src/mock/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-mock-waits-'))
afterAll(() => rmSync(folder, { recursive: true }))

// A warning of the process fails it (test/setup.ts).
it('any number of messages may wait for their time at the recorded pace', async () => {
  const t = '2026-08-01T10:00:00.000Z'
  const count = 15
  const notes = Array.from({ length: count }, (_, i) => ({
    jsonrpc: '2.0',
    method: 'notifications/changed',
    params: { i },
  }))
  const hour = 3600e6
  const lines: object[] = [{ v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }]
  for (const [i, raw] of notes.entries()) {
    lines.push({ t, us: 2 * i * hour, dir: 'in', raw })
    const said = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: i } }
    lines.push({ t, us: (2 * i + 1) * hour, dir: 'out', raw: said })
  }
  const tape = join(folder, 'notes.jsonl')
  writeFileSync(tape, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const streams = { input: new PassThrough(), output: new PassThrough() }
  const server = await mock(tape, { streams, pace: 'recorded' })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  for (const message of [...notes, ping]) streams.input.write(`${JSON.stringify(message)}\n`)
  // The answer to the last one: all before it are waiting.
  const [answer] = await new Promise<string[]>((done) =>
    streams.output.once('data', (chunk: Buffer) => done(String(chunk).trim().split('\n'))),
  )
  expect(JSON.parse(answer!)).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  await server.close()
})
