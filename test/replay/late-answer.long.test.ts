import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'
import { connectInMemory } from '../../src/link/index.js'
import type { Connect } from '../../src/replay/index.js'
import { replayTape } from './replay-tape.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-late-'))
const tape = join(folder, 'twice.jsonl')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const t = '2026-08-01T10:00:00.000Z'
const saying = (text: string): object => ({ content: [{ type: 'text', text }] })
beforeAll(() => {
  const lines: object[] = [{ v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }]
  for (const name of ['slow', 'quick'])
    lines.push(
      { t, dir: 'in', raw: { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name } } },
      { t, dir: 'out', raw: { jsonrpc: '2.0', id: 3, result: saying(name) } },
    )
  writeFileSync(tape, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
})

const answers = (name: string): object => ({ jsonrpc: '2.0', id: 3, result: saying(name) })

function say(to: ServerResponse, name: string): void {
  to.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answers(name)))
}

/** A server that gets a slow request, then a quick one. @param onBoth responds to both */
async function serving(
  onBoth: (slow: ServerResponse, quick: ServerResponse) => void,
): Promise<{ readonly url: string; readonly close: () => Promise<unknown> }> {
  let slow: ServerResponse | undefined
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { params } = JSON.parse(body) as { params: { name: string } }
      if (params.name === 'slow') slow = response
      else onBoth(slow!, response)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () => new Promise((done) => server.close(done)),
  }
}

describe('two clients that share a connection over HTTP, and an id', () => {
  it('get an answer each, the one in their own response', async () => {
    const both = join(folder, 'both.jsonl')
    const asks = (name: string): object => ({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name } })
    const http = (exchange: number): object => ({ http: { exchange } })
    const lines: object[] = [
      { v: 1, type: 'meta', startedAt: t, label: 'x', command: [] },
      { t, us: 1, dir: 'in', id: 'a', raw: asks('slow'), conv: 'a', ...http(0) },
      { t, us: 2, dir: 'in', id: 'b', raw: asks('quick'), conv: 'b', ...http(1) },
      { t, us: 3, dir: 'out', id: 'c', corr: 'b', raw: answers('quick'), conv: 'b', ...http(1) },
      { t, us: 4, dir: 'out', id: 'd', corr: 'a', raw: answers('slow'), conv: 'a', ...http(0) },
    ]
    writeFileSync(both, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { url, close } = await serving((slow, quick) => {
      quick.once('finish', () => say(slow, 'slow'))
      say(quick, 'quick')
    })
    const { differences, counts } = await replay(
      both,
      { url },
      { handshake: false, concurrency: 'recorded', timeoutMs: 30_000 },
    )
    expect(differences).toEqual([])
    expect(counts.same).toBe(2)
    await close()
  })
})

describe('an answer that comes after its time-out, to an id that is used again', () => {
  const note = 'the server responded after the timeout to 1 request, id 3'

  it('is waited for, where nothing else tells whose it is', async () => {
    const timeoutMs = 200
    // Timers of one process fire in their order, however busy the machine is.
    const connect: Connect = (events) =>
      Promise.resolve(
        connectInMemory(events, (server) => ({
          take({ text }) {
            const { id, params } = JSON.parse(text) as { id: number; params: { name: string } }
            const answer = JSON.stringify({ jsonrpc: '2.0', id, result: saying(params.name) })
            if (params.name === 'slow') setTimeout(() => server.say(answer), 1.5 * timeoutMs)
            else server.say(answer)
          },
        })),
      )
    const { verdicts, notes } = await replayTape(tape, connect, timeoutMs)
    expect(verdicts).toEqual(['timed out', 'same'])
    expect(notes).toEqual([note])
  })

  it('is known by the response that brings it, where there is one', async () => {
    const { url, close } = await serving((slow, quick) => {
      slow.once('finish', () => setImmediate(() => say(quick, 'quick')))
      say(slow, 'slow')
    })
    const { exchanges, notes } = await replay(
      tape,
      { url },
      // Long enough for the second answer on a busy machine; the first is given up in any case.
      { handshake: false, timeoutMs: 3_000 },
    )
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['timed out', 'same'])
    expect(notes).toEqual([note])
    await close()
  })
})
