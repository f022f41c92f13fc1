import { expect, it } from 'vitest'
import { writeFileSync } from 'node:fs'
import { modern, post, useHttpStage } from '../behaviour/http-stage.js'
import { cli, printed, server } from '../behaviour/stage.js'
import type { Line } from '../behaviour/tape-bytes.js'
import { identity } from '../fixtures/identity.mjs'

const stage = useHttpStage()

const { version, _meta } = modern
const list = { id: 1, method: 'tools/list', params: { _meta } }
const call = {
  id: 2,
  method: 'tools/call',
  params: { _meta, name: 'echo', arguments: { text: 'x', place: 'Malmö' } },
}
const headersOf = (method: string, more: Record<string, string> = {}): Record<string, string> => ({
  'mcp-protocol-version': version,
  'mcp-method': method,
  ...more,
})
const place = `=?base64?${Buffer.from('Malmö').toString('base64')}?=`
const asked = headersOf('tools/call', { 'mcp-name': 'echo', 'mcp-param-place': place })

/** Requests of a client that omits a header, or sends another value in it. */
const faulty: readonly [string, object, Record<string, string>][] = [
  ['no version', list, {}],
  ['no method', list, { 'mcp-protocol-version': version }],
  ['another method', list, headersOf('tools/call')],
  ['no name', call, headersOf('tools/call', { 'mcp-param-place': place })],
  ['no argument', call, headersOf('tools/call', { 'mcp-name': 'echo' })],
  ['another argument', call, { ...asked, 'mcp-param-place': 'Lund' }],
]

/** Status, error code and id of each response. */
async function use(url: string): Promise<unknown[]> {
  const outcomes: unknown[] = []
  const ask = async (message: object, headers: Record<string, string>): Promise<void> => {
    const { status, text } = await post(url, message, headers)
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
    const { id, error } = JSON.parse(data) as Line
    outcomes.push([status, id, error?.code])
  }
  await ask(list, headersOf('tools/list'))
  await ask(call, asked)
  for (const [, message, headers] of faulty) await ask(message, headers)
  return outcomes
}

async function mock(tape: string): Promise<string> {
  const actor = stage.start([process.execPath, cli, 'mock', tape, '--listen', '127.0.0.1:0'])
  await printed(actor, '\n')
  return actor.stdout().toString().split('\n')[0]!.trim()
}

it('a mock of 2026-07-28 refuses what the recorded server refuses: headers that are missing or differ', async () => {
  const upstream = stage.start(server('sdk-modern-http.mjs'))
  await printed(upstream, '\n')
  const real = upstream.stdout().toString().split('\n')[0]!
  const expected = await use(real)
  expect(expected.slice(2)).toEqual(faulty.map(([, message]) => [400, (message as Line)['id'], -32_020]))
  const { recorder, url } = await stage.recordUrl(real)
  await post(url, list, headersOf('tools/list'))
  await post(url, call, asked)
  await stage.end(recorder)
  expect(await use(await mock(stage.tape()))).toEqual(expected)
})

it('a mock of a server that took requests without such headers takes them too', async () => {
  const tape = stage.path('lenient.jsonl')
  const line = (dir: string, raw: object, http: object, more: object = {}): string =>
    `${JSON.stringify({ t: '2026-01-01T00:00:00.000Z', dir, raw, ...more, http })}\n`
  const meta = { ...identity, transport: 'streamable-http' }
  const first = {
    v: 1,
    type: 'meta',
    startedAt: '2026-01-01T00:00:00.000Z',
    label: 'l',
    command: [],
    wiretape: meta,
  }
  const request = { jsonrpc: '2.0', ...list }
  const result = { jsonrpc: '2.0', id: 1, result: { resultType: 'complete', tools: [] } }
  writeFileSync(
    tape,
    `${JSON.stringify(first)}\n` +
      line('in', request, { exchange: 0, method: 'POST', path: '/mcp', headers: [] }, { id: 'a' }) +
      line('out', result, { exchange: 0, status: 200 }, { id: 'b', corr: 'a' }),
  )
  const answer = await post(await mock(tape), list)
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, result])
})
