import type { RequestListener } from 'node:http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { post, useHttpStage } from '../behaviour/http-stage.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, printed, server, until } from '../behaviour/stage.js'
import { linesOfTape, type Line } from '../behaviour/tape-bytes.js'
import { compareAnswers, plainSettings } from '../../src/compare/index.js'
import { legacyServer } from './legacy-server.js'

const stage = useHttpStage()

const refusal = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })

/** A stateless server of 2025, as the SDK makes them. @param refused response to methods other than POST */
function stateless(
  message: string,
  refused: [number, string?] = [405, refusal(-32_000, 'Method not allowed.')],
) {
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const json = { 'content-type': 'application/json' }
      if (request.method !== 'POST') {
        return response.writeHead(refused[0], refused[1] === undefined ? {} : json).end(refused[1])
      }
      const { id, method } = JSON.parse(body) as Line
      if (id === undefined) return response.writeHead(202).end()
      if (method === 'server/discover') return response.writeHead(400, json).end(refusal(-32_000, message))
      const protocolVersion = '2025-06-18'
      const serverInfo = { name: 'stateless', version: '1' }
      const result = method === 'initialize' ? { protocolVersion, capabilities: {}, serverInfo } : {}
      return response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  }
  return listener
}

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
const discover = { id: 'probe', method: 'server/discover', params: { _meta: meta } }
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }

describe('a stateless server of 2025 that a client of 2026 asks for its era', () => {
  const record = async (): Promise<Line[]> => {
    const upstream = await stage.serve(stateless('Bad Request: no valid version'))
    const { recorder, url } = await stage.recordUrl(upstream)
    expect((await post(url, discover)).status).toBe(400)
    await post(url, { id: 0, method: 'initialize', params })
    await post(url, { method: 'notifications/initialized' })
    const get = await fetch(url, { headers: { accept: 'text/event-stream' } })
    expect([get.status, await get.text()]).toEqual([405, expect.stringContaining('Method not allowed')])
    await post(url, { id: 1, method: 'ping' })
    return stage.end(recorder)
  }

  it('answers the request in whose response its error stands, and is recorded without fault', async () => {
    const lines = await record()
    const [asked, answer] = lines.filter(({ raw }) => raw !== undefined)
    expect(answer).toMatchObject({ raw: { id: null }, corr: asked!['id'] })
    const checked = await wiretape(['inspect', '--check', stage.tape()])
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('no faults')])
    // Formats without links: there, messages of one exchange belong together.
    for (const name of ['talk.har', 'talk.json']) {
      await wiretape(['convert', stage.tape(), stage.path(name)])
      const read = await wiretape(['inspect', '--check', stage.path(name)])
      expect([name, read.code, read.stdout]).toEqual([name, 0, expect.stringContaining('no faults')])
    }
  })

  it('is replayed as the same, and a change of its error is shown', async () => {
    await record()
    const same = await stage.serve(stateless('Bad Request: no valid version'))
    const replayed = await wiretape(['replay', stage.tape(), '--url', same])
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.not.stringContaining('changed')])
    const other = await stage.serve(stateless('Unsupported version'))
    const changed = await wiretape(['replay', stage.tape(), '--url', other])
    expect([changed.code, changed.stdout]).toEqual([1, expect.stringContaining('Unsupported version')])
  })
})

it.each([
  [404, 'no such page'],
  [405, undefined],
])('a probe of the era or transport that HTTP refuses with %d is no fault', async (status, text) => {
  const upstream = await stage.serve((request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(status, { 'content-type': 'text/plain' }).end(text))
  })
  const { recorder, url } = await stage.recordUrl(upstream)
  await post(url, discover)
  await post(url, { id: 'probe', method: 'initialize', params })
  await stage.end(recorder)
  const checked = await wiretape(['inspect', '--check', stage.tape()])
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('no faults')])
})

it('what our own listener says to probes for OAuth and streams is no fault', async () => {
  const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out]
  const recorder = stage.start([...argv, '--', ...server('mini-mcp.mjs')], { detached: true })
  await printed(recorder, '\n')
  const url = recorder.stdout().toString().trim()
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server'])
    expect((await fetch(new URL(path, url))).status).toBe(404)
  expect((await fetch(url, { headers: { accept: 'text/event-stream' } })).status).toBe(400)
  expect((await post(url, { id: 0, method: 'initialize', params })).status).toBe(200)
  await stage.end(recorder)
  const checked = await wiretape(['inspect', '--check', stage.tape()])
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('no faults')])
})

it('the probe of the bridge towards an HTTP+SSE server is no fault', async () => {
  const upstream = await stage.serve(legacyServer())
  const argv = [process.execPath, cli, 'record', '--bridge', '--url', upstream, '--out', stage.out]
  const bridge = stage.start(argv)
  await bridge.send(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  await until('it is answered', () => bridge.stdout().includes('"old"'))
  bridge.stdin.end()
  await bridge.ended
  expect(linesOfTape(stage.tape()).filter(({ raw }) => raw?.method === 'initialize')).toHaveLength(2)
  const checked = await wiretape(['inspect', '--check', stage.tape()])
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('no faults')])
})

it('a verdict of change comes with a difference, whatever the two answers are', () => {
  const members = fc.constantFrom(
    { result: {} },
    { result: { isError: true } },
    { result: { content: [{ type: 'text', text: 'x' }] } },
    { error: { code: -32_601, message: 'no' } },
    { error: { code: -32_000, message: 'no' } },
  )
  const answer = fc.option(
    fc.record({ id: fc.constantFrom(1, 2, null), members }).map(({ id, members: own }) => ({
      text: JSON.stringify({ jsonrpc: '2.0', id, ...own }),
    })),
    { nil: undefined },
  )
  const level = fc.constantFrom('exact' as const, 'semantic' as const, 'schema' as const)
  fc.assert(
    fc.property(answer, answer, level, (before, after, chosen) => {
      const settings = { ...plainSettings, level: chosen }
      const compared = compareAnswers(before, after, { method: 'tools/call' }, settings)
      if (compared.verdict === 'changed')
        expect(compared.differences.length + compared.schemaFaults.length).toBeGreaterThan(0)
    }),
  )
})
