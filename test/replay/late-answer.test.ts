import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-late-'))
const tape = join(folder, 'twice.jsonl')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const t = '2026-08-01T10:00:00.000Z'
const saying = (text: string): object => ({ content: [{ type: 'text', text }] })
beforeAll(() => {
  const lines: object[] = [{ v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }]
  for (const name of ['slow', 'quick'])
    lines.push(
      { t, dir: 'in', raw: { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name } } },
      { t, dir: 'out', raw: { jsonrpc: '2.0', id: 3, result: saying(name) } },
    )
  writeFileSync(tape, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
})

describe('an answer that comes after its time-out, to an id that is used again', () => {
  const note = 'the server answered 1 request after the time-out, first the one with id 3'

  it('is waited for, where nothing else tells whose it is', async () => {
    const script = `process.stdin.on('data', (data) => String(data).trim().split('\\n').forEach((line) => {
      const { id, params: { name } } = JSON.parse(line)
      const result = { content: [{ type: 'text', text: name }] }
      const say = () => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
      setTimeout(say, name === 'slow' ? 1500 : 0)
    }))`
    const { exchanges, notes } = await replay(
      tape,
      { command: [process.execPath, '-e', script] },
      { handshake: false, timeoutMs: 1_000 },
    )
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['timed out', 'same'])
    expect(notes).toEqual([note])
  })

  it('is known by the response that brings it, where there is one', async () => {
    let slow: ServerResponse | undefined
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        if (request.method !== 'POST') return void response.writeHead(405).end()
        const { params } = JSON.parse(body) as { params: { name: string } }
        const say = (to: ServerResponse, text: string): void =>
          void to
            .writeHead(200, { 'Content-Type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id: 3, result: saying(text) }))
        if (params.name === 'slow') return void (slow = response)
        slow!.once('finish', () => setImmediate(() => say(response, 'quick')))
        say(slow!, 'slow')
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const { exchanges, notes } = await replay(
      tape,
      { url: `http://127.0.0.1:${port}/mcp` },
      { handshake: false, timeoutMs: 500 },
    )
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['timed out', 'same'])
    expect(notes).toEqual([note])
    await new Promise((done) => server.close(done))
  })
})
