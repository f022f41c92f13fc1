import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-questions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }

function tape(
  name: string,
  says: readonly (readonly [dir: 'in' | 'out', raw: object, more?: object])[],
): string {
  const path = join(folder, `${name}.jsonl`)
  const t = '2026-08-01T10:00:00.000Z'
  const lines = says.map(([dir, raw, more], i) => ({
    t,
    us: i * 1000,
    dir,
    raw: { jsonrpc: '2.0', ...raw },
    ...more,
  }))
  const meta = { v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }
  writeFileSync(path, [meta, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

const opening = [
  ['in', { id: 0, method: 'initialize', params: {} }],
  ['out', { id: 0, result: opened }],
  ['in', { method: 'notifications/initialized' }],
] as const

/** A server that asks before it answers a call. */
const asking = (message: string): { readonly command: readonly string[] } => ({
  command: [
    process.execPath,
    '-e',
    `const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
    require('node:readline').createInterface(process.stdin).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (method === 'initialize') send({ id, result: ${JSON.stringify(opened)} })
      else if (method === 'tools/call')
        send({ id: 'q', method: 'elicitation/create', params: { message: ${JSON.stringify(message)}, requestedSchema: {} } })
      else if (id === 'q') send({ id: 1, result: { content: [] } })
    })`,
  ],
})

describe('a question of the server with a clock in it', () => {
  const says = (message: string) =>
    [
      ...opening,
      ['in', { id: 1, method: 'tools/call', params: { name: 'a' } }],
      ['out', { id: 'q', method: 'elicitation/create', params: { message, requestedSchema: {} } }],
      ['in', { id: 'q', result: { action: 'decline' } }],
      ['out', { id: 1, result: { content: [] } }],
    ] as const
  let path = ''
  beforeAll(() => (path = tape('clock', says('name? 10:00:01'))))

  it('has changed', async () => {
    const { differences } = await replay(path, asking('name? 10:00:09'))
    expect(differences).toEqual([
      'changed: elicitation/create (sent by the server)\n  ~ params.message "name? 10:00:01" → "name? 10:00:09"',
    ])
  })

  it.each([
    ['ignored', { ignore: ['$.params.message'] }],
    ['matched', { match: { '$.params.message': 'timestamp' } }],
  ])('is the same where its place is %s', async (_, options) => {
    expect((await replay(path, asking('name? 10:00:09'), options)).differences).toEqual([])
  })

  it('is the same where the rules beside the recording say so for this method', async () => {
    const rules = 'calls:\n  - method: elicitation/create\n    ignore:\n      - $.params.message\n'
    const beside = tape('beside', says('name? 10:00:01'))
    writeFileSync(beside.replace(/jsonl$/, 'compare.yaml'), rules)
    expect((await replay(beside, asking('name? 10:00:09'))).differences).toEqual([])
  })

  it('is the same where it was redacted', async () => {
    const [first, ...rest] = says('name? [REDACTED]').toReversed()
    const marked = [first!, ...rest]
      .toReversed()
      .map(([dir, raw]) =>
        'method' in raw && raw.method === 'elicitation/create'
          ? ([dir, raw, { red: [{ at: '/params/message', tag: 'x' }] }] as const)
          : ([dir, raw] as const),
      )
    expect((await replay(tape('redacted', marked), asking('name? 1'))).differences).toEqual([])
  })
})

describe('pings of a server', () => {
  it('are not waited for, and none is missing', async () => {
    const pings = Array.from({ length: 5 }, (_, i) => [
      ['out', { id: `p${i}`, method: 'ping' }] as const,
      ['in', { id: `p${i}`, result: {} }] as const,
    ]).flat()
    const path = tape('pings', [
      ...opening,
      ...pings,
      ['in', { id: 1, method: 'tools/call', params: { name: 'a' } }],
      ['out', { id: 1, result: { content: [] } }],
      ...pings,
      ['in', { id: 2, method: 'tools/call', params: { name: 'a' } }],
      ['out', { id: 2, result: { content: [] } }],
    ])
    const silent = `require('node:readline').createInterface(process.stdin).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      const result = method === 'initialize' ? ${JSON.stringify(opened)} : { content: [] }
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })`
    // Waiting for one would be waiting for this long.
    const timeoutMs = 100_000
    const result = await replay(path, { command: [process.execPath, '-e', silent] }, { timeoutMs })
    expect(result.differences).toEqual([])
    expect(result.same).toBe(true)
  }, 60_000)
})
