// @ts-check
// Usage: node server.mjs
// Echoes what each call says, after a while, in one of the ways that HTTP has for an answer, which the client chooses
// by its name: `json`, `stream` (progress first), or `later` (on the stream that the client opened by GET). Prints
// its URL.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** Open GET streams by session. @type {Map<string, import('node:http').ServerResponse>} */
const streams = new Map()

const event = (/** @type {object} */ message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function serve(request, response) {
  const session = String(request.headers['mcp-session-id'])
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(': open\n\n')
    streams.set(session, response)
    return
  }
  const { id, method, params } = JSON.parse(await text(request))
  const json = { 'Content-Type': 'application/json' }
  if (method === 'initialize') {
    const named = params.way === 'json' ? {} : { 'Mcp-Session-Id': randomUUID() }
    response.writeHead(200, { ...json, ...named })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25' } }))
    return
  }
  const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: params.arguments.text }] } }
  setTimeout(() => {
    switch (params.arguments.way) {
      case 'json':
        response.writeHead(200, json)
        response.end(JSON.stringify(answer))
        break
      case 'stream': {
        const progress = { progressToken: params._meta.progressToken, progress: 1 }
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.write(event({ jsonrpc: '2.0', method: 'notifications/progress', params: progress }))
        response.end(event(answer))
        break
      }
      default:
        response.writeHead(202)
        response.end()
        streams.get(session)?.write(event(answer))
    }
  }, Math.random() * 20)
}

const server = createServer((request, response) => void serve(request, response))
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`http://127.0.0.1:${port}/mcp`)
})
