/**
 * A message that needs more memory than the recording thread has ends it. The thread gets little here
 * (WIRETAPE_RECORDER_HEAP_MB), so that a message of some megabytes is enough.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { printed, until } from '../behaviour/stage.js'
import { openStream, post } from '../behaviour/http-stage.js'
import {
  both,
  call,
  hostile,
  numbersFrom,
  replaced,
  sorted,
  stdioServer,
  useDyingThread,
} from './recording-thread-stage.js'

const { stage, servers, start, secondSegment } = useDyingThread()

/** An HTTP server that answers each POST, and streams to each GET what `say` is given. */
async function httpServer(): Promise<{ url: string; say: (text: string) => void }> {
  const streams: http.ServerResponse[] = []
  const server = http.createServer((request, response) => {
    if (request.method === 'GET') {
      streams.push(response)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { ok: true } }))
    })
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    say: (text) => streams.forEach((stream) => stream.write(text)),
  }
}

describe('a message that ends the recording thread', () => {
  it('over HTTP: exchanges and streams that were open go on to be recorded', async () => {
    const upstream = await httpServer()
    const recorder = start(['record', '--url', upstream.url, '--out', stage.out, '--quiet'])
    await printed(recorder, '\n')
    const url = recorder.stdout().toString().trim()
    await post(url, call(1))
    const stream = await openStream(url)
    await post(url, hostile)
    await replaced(recorder)
    const ids = numbersFrom(100)
    for (const id of ids) await post(url, call(id))
    upstream.say('data: {"jsonrpc":"2.0","id":900,"method":"roots/list"}\n\n')
    await until('the event came', () => stream.came().includes('roots/list'))
    await stream.close()
    recorder.child.kill('SIGTERM')
    expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
    const { ids: recorded } = await secondSegment()
    expect(sorted(recorded.filter((id) => id !== 'hostile'))).toEqual([...both(ids), 900])
  })

  it('of a bridge, to either side, does the same', async () => {
    const upstream = await httpServer()
    const bridge = start(['record', '--bridge', '--url', upstream.url, '--out', stage.out])
    const initialize = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    })
    await bridge.send(`${initialize}\n`)
    await until('it is answered', () => bridge.stdout().toString().includes('"id":1'))
    await bridge.send(`${hostile}\n`)
    await replaced(bridge)
    const ids = numbersFrom(100)
    for (const id of ids) await bridge.send(`${call(id)}\n`)
    await until('all is answered', () =>
      ids.every((id) => bridge.stdout().toString().includes(`"id":${id},`)),
    )
    bridge.stdin.end()
    expect(await bridge.ended).toEqual({ exitCode: 0, signal: null })
    const { ids: recorded } = await secondSegment()
    expect(sorted(recorded.filter((id) => id !== 'hostile'))).toEqual(both(ids))
  })

  it('of a stdio server that listens for clients of HTTP does the same', async () => {
    const recorder = start([
      'record',
      '--listen',
      '127.0.0.1:0',
      '--out',
      stage.out,
      '--quiet',
      '--',
      ...stdioServer,
    ])
    await printed(recorder, '\n')
    const url = recorder.stdout().toString().trim()
    const headers: Record<string, string> = { 'mcp-protocol-version': '2025-11-25' }
    const opened = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      }),
    })
    await opened.text()
    headers['mcp-session-id'] = opened.headers.get('mcp-session-id')!
    await post(url, hostile, headers)
    await replaced(recorder)
    const ids = numbersFrom(100)
    for (const id of ids) await post(url, call(id), headers)
    recorder.child.kill('SIGTERM')
    await recorder.ended
    const { ids: recorded } = await secondSegment()
    expect(sorted(recorded.filter((id) => id !== 'hostile'))).toEqual(both(ids))
  })

  it('behind a forward proxy does the same', async () => {
    const upstream = await httpServer()
    const argv = ['record', '--forward', '--listen', '127.0.0.1:0', '--out', stage.out]
    const recorder = start(argv)
    const proxy = new URL(
      await until(
        'it listens',
        () =>
          /http:\/\/127\.0\.0\.1:\d+/.exec(recorder.stdout().toString() + recorder.stderr().toString())?.[0],
      ),
    )
    const send = (body: string): Promise<void> =>
      new Promise((done, failed) => {
        const headers = { 'content-type': 'application/json', host: new URL(upstream.url).host }
        const options = {
          host: proxy.hostname,
          port: proxy.port,
          path: upstream.url,
          method: 'POST',
          headers,
          agent: false as const,
        }
        http
          .request(options, (response) => response.resume().on('end', done))
          .on('error', failed)
          .end(body)
      })
    await send(call(1))
    await send(hostile)
    await until('the thread is replaced', () =>
      recorder.stderr().toString().includes('a new thread replaced it'),
    )
    const ids = numbersFrom(100)
    for (const id of ids) await send(call(id))
    recorder.child.kill('SIGTERM')
    await recorder.ended
    const { ids: recorded } = await secondSegment()
    expect(sorted(recorded.filter((id) => id !== 'hostile'))).toEqual(both(ids))
  })
})
