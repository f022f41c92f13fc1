import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-refused-'))
const line = (dir: string, raw: object): string =>
  JSON.stringify({ t: '2026-08-01T10:00:00.000Z', dir, raw: { jsonrpc: '2.0', ...raw } })
const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
const tape = [
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":[]}',
  line('in', { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
  line('out', { id: 0, result }),
  line('in', { method: 'notifications/initialized' }),
  line('in', { id: 1, method: 'ping' }),
  line('out', { id: 1, result: {} }),
  '{"t":"2026-08-01T10:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}',
].join('\n')

describe('over HTTP', () => {
  /** Refuses notifications, and answers a ping with a page. */
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { id, method } = body === '' ? { id: undefined, method: '' } : JSON.parse(body)
      const answer = (status: number, text: string, type: string): void =>
        void response.writeHead(status, { 'content-type': type }).end(text)
      if (method === 'initialize')
        answer(200, JSON.stringify({ jsonrpc: '2.0', id, result }), 'application/json')
      else if (id === undefined)
        answer(request.method === 'GET' ? 405 : 403, 'not for you\nor anybody', 'text/plain')
      else answer(502, '<h1>Bad gateway</h1>', 'text/html')
    })
  })
  beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })

  it('a refused notification and an answer that is none are told as such', async () => {
    const path = join(folder, 'a.jsonl')
    writeFileSync(path, `${tape}\n`)
    const { port } = server.address() as AddressInfo
    const found = await replay(path, { url: `http://127.0.0.1:${port}/mcp` })
    expect(found.differences).toEqual([
      'error now: notifications/initialized\n  Write failed: HTTP 403: not for you',
      'error now: ping\n  Read failed: HTTP 502: <h1>Bad gateway</h1>',
    ])
    expect(found.messages.map(({ status }) => status)).toEqual(['answered', 'failed', 'failed'])
  })
})
