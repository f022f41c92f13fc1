/** Every format keeps a request that a rule or a person answered, and that response. */
import { describe, expect, it } from 'vitest'
import type { TapeRecord } from '../../src/model/index.js'
import { read, spoken, write } from './codec-stage.js'
import { recordsOf } from './session-json-stage.js'
import { identity } from '../fixtures/identity.mjs'

const readable = ['jsonrpc', 'inspector', 'har', 'streamable-http', 'http-sse']

function line(value: object): string {
  return JSON.stringify(value)
}

const at = (us: number): object => ({ t: `2026-08-01T10:00:00.${String(us / 1000).padStart(3, '0')}Z`, us })
const call = (id: number, name: string): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
})
const answer = (id: number): object => ({ jsonrpc: '2.0', id, result: { content: [] } })

function tape(transport: string, http: (exchange: number, of: 'request' | 'response') => object): string[] {
  const meta = { ...identity, transport }
  return [
    { v: 1, type: 'meta', startedAt: '2026-08-01T10:00:00.000Z', label: 'x', command: [], wiretape: meta },
    {
      type: 'held',
      ...at(1000),
      dir: 'in',
      raw: call(1, 'ruled'),
      id: 'a',
      seq: 0,
      rule: 'r',
      ...http(0, 'request'),
    },
    { ...at(2000), dir: 'in', raw: call(2, 'open'), id: 'b', seq: 1, ...http(1, 'request') },
    { type: 'dropped', ...at(3000), id: 'a', why: 'by the rule r', rule: 'r' },
    {
      ...at(3000),
      dir: 'out',
      raw: answer(1),
      id: 'c',
      corr: 'a',
      seq: 2,
      injected: true,
      ...http(0, 'response'),
    },
    { ...at(5000), dir: 'out', raw: answer(2), id: 'd', corr: 'b', seq: 3, ...http(1, 'response') },
    { type: 'held', ...at(6000), dir: 'in', raw: call(3, 'gone'), id: 'e', seq: 4, ...http(2, 'request') },
    { type: 'dropped', ...at(7000), id: 'e', why: 'by hand' },
    { t: '2026-08-01T10:00:01.000Z', type: 'end', exitCode: 0, durationMs: 1000 },
  ].map(line)
}

const recordings: Readonly<Record<string, readonly TapeRecord[]>> = {
  stdio: recordsOf(tape('stdio', () => ({}))),
  http: recordsOf(
    tape('streamable-http', (exchange, of) => ({
      http: of === 'request' ? { exchange, method: 'POST', path: '/mcp' } : { exchange, status: 200 },
    })),
  ),
}

describe.each(Object.keys(recordings))('a request over %s that a rule answered', (kind) => {
  const records = recordings[kind]!

  it.each(readable)('is read back from %s with its answer', async (format) => {
    const { text, said } = await write(format, records)
    const { records: back } = await read(format, text)
    const lines = await spoken(back)
    const ruled = lines.indexOf(`> ${line(call(1, 'ruled'))}`)
    expect(ruled).toBeGreaterThanOrEqual(0)
    expect(lines).toContain(`< #${ruled} ${line(answer(1))}`)
    expect(lines.join('\n')).not.toContain('gone')
    expect(said.join('\n')).toMatch(/records of undelivered messages are left out: 1/)
    expect(said.join('\n')).toMatch(/records of dropped messages are left out: 1/)
  })

  it('is a step of a trace, a span, and a row without a latency of the server', async () => {
    expect((await write('assay-trace', records)).text).toContain('"ruled"')
    const spans = (await write('otlp-json', records)).text
    expect(spans).toContain('"name":"tools/call ruled"')
    expect(spans).not.toContain('wiretape.unanswered')
    const rows = (await write('csv', records)).text.split('\r\n')
    expect(rows.find((row) => row.includes('result') && row.startsWith('2,'))).toMatch(/,ruled,1,0,,/)
    expect((await write('markdown', records)).text).toContain('result of #0 tools/call ruled')
  })
})

it('a held request that was passed on after all stands there once', async () => {
  const passed = [...recordings['stdio']!]
  const held = passed[1] as Extract<TapeRecord, { type: 'held' }>
  passed.splice(3, 1, { ...held, type: 'message', heldMs: 2 })
  const { text } = await write('jsonrpc', passed)
  expect(text.split('"ruled"')).toHaveLength(2)
})
