// @ts-check
/**
 * A JSON-RPC server over HTTP, with nothing but Node's own modules: it responds to each POST with a JSON result, and to
 * the method `bench/stream` with server-sent events. Prints its URL.
 */
import { createServer } from 'node:http'
import { answerTo, stream } from './echo.mjs'

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString())
    if (message.method === 'bench/stream') return sendEvents(response, message)
    const answer = answerTo(message)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length })
    response.end(answer)
  })
})

/**
 * @param {import('node:http').ServerResponse} response
 * @param {import('./echo.mjs').Request} request
 */
function sendEvents(response, request) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
  response.flushHeaders()
  const stop = stream(request, (message, isLast) => {
    response.write(`event: message\ndata: ${message}\n\n`)
    if (isLast) response.end()
  })
  response.on('close', stop)
}

// Longer than the longest wait of a lane for its turn.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}/mcp`)
})
