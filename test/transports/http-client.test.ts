import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectHttp } from '../../src/transports/index.js'

const server = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  let body = ''
  request.on('data', (chunk) => (body += String(chunk)))
  request.on('end', () => {
    const { id } = JSON.parse(body) as { id: number }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n\n`)
    response.end()
  })
})
let url = new URL('http://127.0.0.1')
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
})
afterAll(() => new Promise((done) => server.close(done)))

describe('a client of a server without sessions', () => {
  it.each([0, 1, 2, 3])(
    'closes without an error wherever its last response is, %i turns after the answer',
    async (turns) => {
      for (let i = 0; i < 5; i += 1) {
        let answered = (_text: string): void => undefined
        const answer = new Promise<string>((resolve) => (answered = resolve))
        const connection = await connectHttp(
          url,
          {},
          { message: answered, failed: () => answered('failed'), ended: () => answered('ended') },
        )
        await connection.send({
          text: `{"jsonrpc":"2.0","id":${i},"method":"ping"}`,
          method: 'ping',
          requests: 1,
        })
        expect(await answer).toBe(`{"jsonrpc":"2.0","id":${i},"result":{}}`)
        for (let turn = 0; turn < turns; turn += 1) await new Promise((done) => setImmediate(done))
        await connection.close()
      }
    },
  )
})
