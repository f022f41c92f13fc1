import type { RequestListener } from 'node:http'

/** A server of HTTP+SSE that responds to everything as to `initialize`; elsewhere it takes no POST. */
export function legacyServer(): RequestListener {
  let stream: Parameters<RequestListener>[1] | undefined
  return (request, response) => {
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void stream.write('event: endpoint\ndata: /messages?sessionId=abc\n\n')
    }
    if (!request.url?.startsWith('/messages')) return void response.writeHead(404).end('Cannot POST /mcp')
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { id } = JSON.parse(body) as { id: unknown }
      response.writeHead(202).end('Accepted')
      const serverInfo = { name: 'old', version: '1' }
      const result = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo }
      stream!.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    })
  }
}
