import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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

it('an answer that the server would not take is told as such, with the reason', async () => {
  const asks = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'x' } }
  const done = { jsonrpc: '2.0', id: 1, result: { content: [] } }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { method } = JSON.parse(body) as { method?: string }
      if (method === undefined) {
        response.writeHead(400).end('no answers here')
        return void waiting?.end(`data: ${JSON.stringify(done)}\n\n`)
      }
      waiting = response
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(asks)}\n\n`)
    })
  })
  let waiting: ServerResponse | undefined
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const path = join(mkdtempSync(join(tmpdir(), 'wiretape-refused-')), 'asked.jsonl')
  const said = [
    line('in', { id: 1, method: 'tools/call', params: { name: 'a' } }),
    line('out', asks),
    line('in', { id: 'q', result: { action: 'decline' } }),
    line('out', done),
  ]
  writeFileSync(path, [tape.split('\n', 1)[0], ...said, ''].join('\n'))
  const { port } = server.address() as AddressInfo
  const { differences, messages } = await replay(
    path,
    { url: `http://127.0.0.1:${port}/mcp` },
    { handshake: false },
  )
  expect(differences).toEqual([
    'error now: answer to elicitation/create\n  Write failed: HTTP 400: no answers here',
  ])
  expect(messages.map(({ status }) => status)).toEqual(['answered', 'failed'])
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
  rmSync(dirname(path), { recursive: true, force: true })
})
