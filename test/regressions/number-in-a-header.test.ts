import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { replay } from '../../src/index.js'
import { cli, printed, useStage } from '../behaviour/stage.js'

const stage = useStage()

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const properties = { amount: { type: 'integer', 'x-mcp-header': 'Amount' }, note: { 'x-mcp-header': 'Note' } }
const tools = [{ name: 'pay', inputSchema: { type: 'object', properties } }]
const listed = { resultType: 'complete', tools }
const paid = { resultType: 'complete', content: [{ type: 'text', text: 'paid' }] }
const paying = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const result = method === 'tools/list' ? ${JSON.stringify(listed)} : ${JSON.stringify(paid)}
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

it('a replay writes a number in a header as bridges and servers want it, however its body writes it', async () => {
  const tape = stage.path('exponent.jsonl')
  const at = '2026-01-01T00:00:00.000Z'
  const ask = (id: number, method: string, params: object): object => ({
    t: at,
    dir: 'in',
    id: `q${id}`,
    raw: { jsonrpc: '2.0', id, method, params: { _meta, ...params } },
  })
  const answer = (id: number, result: object): object => ({
    t: at,
    dir: 'out',
    id: `a${id}`,
    corr: `q${id}`,
    raw: { jsonrpc: '2.0', id, result },
  })
  const lines = [
    { v: 1, type: 'meta', startedAt: at, label: 'l', command: [] },
    ask(1, 'tools/list', {}),
    answer(1, listed),
    ask(2, 'tools/call', { name: 'pay', arguments: { amount: 1000, note: '' } }),
    answer(2, paid),
  ].map((line) => JSON.stringify(line))
  writeFileSync(tape, `${lines.join('\n').replace('"amount":1000', '"amount":1e3')}\n`)
  const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out]
  const bridge = stage.start([...argv, '--', process.execPath, '-e', paying])
  await printed(bridge, '\n')
  const result = await replay(tape, { url: bridge.stdout().toString().trim() })
  expect(result.differences).toEqual([])
  expect(result.messages.at(-1)!.response).toContain('paid')
  bridge.child.kill('SIGTERM')
  expect(await bridge.ended).toEqual({ exitCode: 0, signal: null })
})
