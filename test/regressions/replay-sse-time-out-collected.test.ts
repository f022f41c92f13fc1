import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Runs the compiled replay target in a process of its own, whose collector is run all the time. */
const script = `
  const { connectTo } = await import(process.argv[1])
  const collect = setInterval(() => gc(), 5)
  const patient = new AbortController()
  const opening = { timeoutMs: 300, signal: patient.signal }
  const connected = await connectTo({ url: process.argv[2], transport: 'sse' })({}, opening)
  clearInterval(collect)
  process.stdout.write(connected.error ?? 'connected')
`

it('an HTTP+SSE server that names no endpoint is given up although the garbage collector runs meanwhile', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  }).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
    const target = new URL('../../dist/replay/target.js', import.meta.url).href
    const argv = ['--expose-gc', '--input-type=module', '-e', script, target, url]
    const ran = await promisify(execFile)(process.execPath, argv, { timeout: 30_000 })
    expect(ran.stdout).toMatch(/: the server sent no endpoint event in time$/)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
