// @ts-check
/**
 * The baseline: a reverse proxy that records nothing, with nothing but Node's own modules. Prints the URL for clients.
 * Usage: node bare-http-proxy.mjs URL
 */
import { Agent, createServer, request as send } from 'node:http'

const upstream = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true })
const server = createServer((request, response) => {
  const { method, url: path, headers } = request
  const onward = send(upstream, { method, path, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  request.pipe(onward)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object')
    console.log(`http://127.0.0.1:${address.port}${upstream.pathname}`)
})
