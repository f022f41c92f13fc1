// @ts-check
/**
 * A JSON-RPC server over HTTP, as plain as Node allows: it answers each POST with a JSON result, and the method
 * `bench/stream` with `params.events` server-sent events, one every `params.everyMs`, each with the time of its sending.
 * The last one is the result. Prints its URL.
 */
import { createServer } from 'node:http'

/** @typedef {import('node:http').ServerResponse} ServerResponse */

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
    if (method === 'bench/stream') return stream(response, id, params)
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { pad: 'r'.repeat(40) } })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length })
    response.end(answer)
  })
})

/**
 * @param {ServerResponse} response
 * @param {number} id
 * @param {{ events: number, everyMs: number }} plan
 */
function stream(response, id, { events, everyMs }) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
  response.flushHeaders()
  let sent = 0
  const timer = setInterval(() => {
    const isLast = ++sent === events
    const told = { sentAt: performance.timeOrigin + performance.now() }
    const message = isLast ? { id, result: told } : { method: 'notifications/bench', params: told }
    response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    if (!isLast) return
    clearInterval(timer)
    response.end()
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

// Longer than any lane has to wait for its turn.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}/mcp`)
})
