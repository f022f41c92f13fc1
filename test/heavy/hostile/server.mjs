// @ts-check
/**
 * Sends the hostile message that a request names. Usage: node server.mjs [http]
 *
 * A request `hostile` names a group and a shape of shapes.mjs. Over HTTP the hostile message is the response, on stdio
 * a line before the response. Over HTTP the server prints its URL.
 */
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { heads, lines, streams } from './shapes.mjs'

/** @param {unknown} id */
const pong = (id) => JSON.stringify({ jsonrpc: '2.0', id, result: {} })

async function onStdio() {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, params } = JSON.parse(line)
    const shape = params && lines[params.shape]
    if (shape) process.stdout.write(`${shape(params.size)}\n`)
    if (params?.stderr) process.stderr.write(`${'password=x '.repeat(params.size / 11)}\n`)
    process.stdout.write(`${pong(id)}\n`)
  }
  process.exitCode = 3
}

function onHttp() {
  // A connection waits for as long as the recorder reads a hostile message: the server must not close it as idle.
  const server = createServer({ maxHeaderSize: 512 * 1024, keepAliveTimeout: 0 }, (request, response) => {
    void text(request).then((body) => {
      const { id, params } = JSON.parse(body)
      const { group, shape, size } = params ?? {}
      const json = { 'content-type': 'application/json' }
      if (group === 'lines') return response.writeHead(200, json).end(lines[shape]?.(size))
      if (group === 'streams') {
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streams[shape]?.(size))
      }
      if (group === 'heads') {
        return response
          .writeHead(200, [...(heads[shape]?.() ?? []), 'content-type', 'application/json'])
          .end(pong(id))
      }
      if (group === 'chunks') {
        response.writeHead(200, json)
        for (const character of pong(id).padEnd(size)) response.write(character)
        return response.end()
      }
      return response.writeHead(200, json).end(pong(id))
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    console.log(`http://127.0.0.1:${port}/mcp`)
  })
}

if (process.argv[2] === 'http') onHttp()
else await onStdio()
