import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'
import { tapeOf } from '../compare/stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-endings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tape = join(folder, 'call.jsonl')
beforeAll(() => writeFileSync(tape, tapeOf([{ method: 'ping', result: {} }])))

describe('a server of HTTP+SSE that names no endpoint', () => {
  const silent: RequestListener = () => undefined
  const head: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  }

  async function at<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((done) => server.once('listening', done))
    try {
      return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  it.each([
    ['answers nothing', silent],
    ['says nothing on its stream', head],
  ])('and %s is given up after the time-out', async (_, listener) => {
    const replayed = at(listener, (url) =>
      replay(tape, { url, transport: 'sse' }, { handshake: false, timeoutMs: 500 }),
    )
    await expect(replayed).rejects.toThrow(
      /^cannot open http:.*\/sse: the server sent no endpoint event in time$/,
    )
  })

  it('ends at once when the replay is interrupted', async () => {
    const abort = new AbortController()
    const interrupt: RequestListener = () => abort.abort()
    const result = await at(interrupt, (url) =>
      replay(tape, { url, transport: 'sse' }, { handshake: false, timeoutMs: 600_000, signal: abort.signal }),
    )
    expect(result).toMatchObject({ stopped: 'interrupted', counts: { 'not sent': 1 } })
  })
})
