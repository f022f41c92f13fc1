import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-notices-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
const text = (said: string): object => ({ content: [{ type: 'text', text: said }] })

/** A call, a notification of the server after its response, and a later call that depends on it. */
function tape(name: string, notice: object, us = 20): string {
  const path = join(folder, `${name}.jsonl`)
  const says: [us: number, dir: string, raw: object][] = [
    [0, 'in', { id: 0, method: 'initialize', params: {} }],
    [1, 'out', { id: 0, result: opened }],
    [2, 'in', { method: 'notifications/initialized' }],
    [10, 'in', { id: 1, method: 'tools/call', params: { name: 'begin' } }],
    [11, 'out', { id: 1, result: text('begun') }],
    [us, 'out', notice],
    [us + 10, 'in', { id: 2, method: 'tools/call', params: { name: 'look' } }],
    [us + 11, 'out', { id: 2, result: text('done') }],
    [us + 12, 'in', { id: 3, method: 'tools/call', params: { name: 'look' } }],
    [us + 13, 'out', { id: 3, result: text('done') }],
  ]
  const t = '2026-08-01T10:00:00.000Z'
  const lines = says.map(([ms, dir, raw]) => ({ t, us: ms * 1000, dir, raw: { jsonrpc: '2.0', ...raw } }))
  const meta = { v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }
  writeFileSync(path, [meta, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

/** Works longer than the recorded one did. */
const worker = (notice: object | undefined): { readonly command: readonly string[] } => ({
  command: [
    process.execPath,
    '-e',
    `let state = ${notice === undefined ? "'done'" : "'at work'"}
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const say = (id, text) => send({ id, result: { content: [{ type: 'text', text }] } })
    const done = () => { state = 'done'; send(${JSON.stringify(notice)}) }
    require('node:readline').createInterface(process.stdin).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (method === 'initialize') return send({ id, result: ${JSON.stringify(opened)} })
      if (id === undefined) return
      if (params.name === 'look') return say(id, state)
      say(id, 'begun')
      ${notice === undefined ? '' : 'setTimeout(done, 700)'}
    })`,
  ],
})

describe('a notification after an answer', () => {
  const log = { method: 'notifications/message', params: { level: 'info', data: 'done' } }
  const changed = { method: 'notifications/tools/list_changed' }

  it.each([
    ['log', log],
    ['change', changed],
  ])('is waited for before the client goes on: a %s', async (name, notice) => {
    expect((await replay(tape(name, notice), worker(notice))).differences).toEqual([])
  })

  it('of a change is waited for also where the server took its time then', async () => {
    expect((await replay(tape('slow', changed, 30_000), worker(changed))).differences).toEqual([])
  })

  it('that does not come is waited for once, and makes no difference', async () => {
    const result = await replay(tape('gone', changed), worker(undefined), { timeoutMs: 5_000 })
    expect(result.differences).toEqual([])
  })

  it('is not waited for where the server may speak by the clock', async () => {
    // It would be waited for as long as that.
    const result = await replay(tape('clock', log, 30_000), worker(undefined), { timeoutMs: 100_000 })
    expect(result.differences).toEqual([])
  }, 60_000)
})
