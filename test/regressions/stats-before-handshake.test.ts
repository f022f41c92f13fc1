/** A client may call tools before the server has sent its name: its calls still belong to that server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { wiretape } from '../behaviour/run-cli.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-stats-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('stats takes no tool that was called before the handshake ended for one that was never called', async () => {
  const t = '2026-08-01T10:00:00.000Z'
  const ask = (id: number, method: string, params: object): object => ({
    t,
    dir: 'in',
    raw: { jsonrpc: '2.0', id, method, params },
  })
  const answer = (id: number, result: object): object => ({
    t,
    dir: 'out',
    raw: { jsonrpc: '2.0', id, result },
  })
  const protocolVersion = '2025-11-25'
  const clientInfo = { name: 'c', version: '1' }
  const tools = ['used', 'spare'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  const lines = [
    { v: 1, type: 'meta', startedAt: t, label: 'early', command: ['server'] },
    ask(1, 'initialize', { protocolVersion, capabilities: {}, clientInfo }),
    ask(2, 'tools/list', {}),
    ask(3, 'tools/call', { name: 'used', arguments: {} }),
    answer(1, { protocolVersion, capabilities: {}, serverInfo: { name: 's', version: '1' } }),
    answer(2, { tools }),
    answer(3, { content: [] }),
    { t, type: 'end', exitCode: 0, durationMs: 1 },
  ]
  const file = join(folder, 'early.jsonl')
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { stdout } = await wiretape(['stats', file, '--json'])
  expect((JSON.parse(stdout) as { neverCalled: object[] }).neverCalled).toEqual([
    { server: 's', tool: 'spare' },
  ])
})
