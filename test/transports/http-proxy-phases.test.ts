import { Agent, request } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import type { HttpPhases } from '../../src/model/index.js'
import { useHttpStage, type SeenProxy } from './http-proxy-stage.js'
import { certificate, key } from './test-certificate.js'

const stage = useHttpStage()

/** Gets on the connection of the agent. */
function get(agent: Agent, url: string): Promise<void> {
  return new Promise((done, fail) => {
    const sent = request(url, { agent })
    sent.on('error', fail)
    sent.on('response', (answer) => answer.resume().on('end', done))
    sent.end()
  })
}

function phasesOf({ events }: SeenProxy): (HttpPhases | undefined)[] {
  return events.flatMap((event) => (event.kind === 'response' ? [event.phases] : []))
}

it('times DNS, connecting and TLS of a new connection, and only the wait on one that was used before', async () => {
  const server = https.createServer({ key, cert: certificate }, (_, response) =>
    response.writeHead(200, { 'content-length': 2 }).end('ok'),
  )
  await new Promise<void>((done) => server.listen(0, 'localhost', done))
  try {
    const { port } = server.address() as AddressInfo
    const proxy = await stage.proxy(`https://localhost:${port}/mcp`, { insecure: true })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await get(agent, proxy.url)
    await get(agent, proxy.url)
    agent.destroy()
    const [first, second] = phasesOf(proxy)
    expect(Object.keys(first!)).toEqual(['dnsMs', 'connectMs', 'tlsMs', 'waitMs'])
    expect(Object.values(first!).every((ms) => ms >= 0)).toBe(true)
    expect(Object.keys(second!)).toEqual(['waitMs'])
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})

it('has no DNS for an address', async () => {
  const upstream = await stage.httpUpstream((_, response) => response.end('ok'))
  const proxy = await stage.proxy(upstream)
  await fetch(proxy.url).then((answer) => answer.text())
  expect(Object.keys(phasesOf(proxy)[0]!)).toEqual(['connectMs', 'waitMs'])
})
