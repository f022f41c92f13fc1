import { expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { cli, printed, server, useStage } from './stage.js'

const stage = useStage()

const rpc = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
const opening = rpc({ id: 0, method: 'initialize', params }) + rpc({ method: 'notifications/initialized' })
const call = (id: number, name: string, args: object): string =>
  rpc({ id, method: 'tools/call', params: { name, arguments: args } })

it.each([
  ['does not read', 'setInterval(() => {}, 1000)'],
  [
    'reads nothing after initialize',
    `process.stdin.once('data', (line) => {
      const { id } = JSON.parse(String(line).split('\\n')[0])
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }) + '\\n')
      process.stdin.pause()
    })
    setInterval(() => {}, 1000)`,
  ],
])('a mock answers recorded calls beside a server that %s, and ends', async (_, code) => {
  const mini = server('mini-mcp.mjs')
  await wiretape(stage.record(mini).slice(2), { input: opening + call(1, 'echo', { text: 'a' }) })
  const deaf = [process.execPath, '-e', code]
  const one = stage.start([process.execPath, cli, 'mock', stage.tape(), '--fallback', '--', ...deaf])
  const large = 'x'.repeat(300_000)
  await one.send(opening)
  for (const id of [5, 6, 7, 8, 9]) await one.send(call(id, 'add', { a: large, b: id }))
  await one.send(call(10, 'echo', { text: 'a' }))
  await printed(one, '"id":10')
  one.child.kill('SIGTERM')
  expect(await one.ended).toEqual({ exitCode: 143, signal: null })
  // A slow server may not have received `initialize` by then.
  const why = /no response from the fallback: it (was ended by SIGTERM|has not responded to initialize)/
  expect(one.stderr().toString()).toMatch(why)
  const lines = one.stdout().toString().trimEnd().split('\n')
  const answers = lines.map((line) => JSON.parse(line) as { id: number; error?: { message: string } })
  expect(answers.find(({ id }) => id === 9)?.error?.message).toMatch(why)
  expect(stage.running()).toEqual([])
})
