import { expect, it } from 'vitest'
import { post } from '../behaviour/http-stage.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, printed, useStage } from '../behaviour/stage.js'

const stage = useStage()

/** Answers `initialize`, and exits at `tools/call`. */
const dying = (exitCode: number): string[] => [
  process.execPath,
  '-e',
  `require('node:readline').createInterface(process.stdin).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'd', version: '1' } }
    if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'tools/call') process.exit(${exitCode})
  })`,
]
const say = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const clientInfo = { name: 'c', version: '1' }
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
const initialize = say({ id: 1, method: 'initialize', params })
const call = say({ id: 2, method: 'tools/call', params: { name: 'x' } })

async function recordDeath(): Promise<string> {
  const recorder = stage.start(stage.record(dying(3)))
  await recorder.send(initialize)
  await printed(recorder, '\n')
  await recorder.send(call)
  expect(await recorder.ended).toEqual({ exitCode: 3, signal: null })
  return stage.tape()
}

it('a replay of a server that dies as it did when recorded is the same, and says so', async () => {
  const tape = await recordDeath()
  const { code, stdout } = await wiretape(['replay', tape, '--', ...dying(3)])
  expect([code, stdout]).toEqual([0, expect.stringContaining('exited with 3, as in the recording')])
  expect(stdout).not.toMatch(/Different|Stopped/)
})

it('a replay of a server that dies otherwise is not', async () => {
  const tape = await recordDeath()
  const { code, stdout } = await wiretape(['replay', tape, '--', ...dying(7)])
  expect([code, stdout]).toEqual([1, expect.stringContaining('the server exited with 7')])
})

it('the mock of a server that died ends as it did, at the same call', async () => {
  const tape = await recordDeath()
  const mock = stage.start([process.execPath, cli, 'mock', tape])
  await mock.send(initialize + call)
  expect(await mock.ended).toEqual({ exitCode: 3, signal: null })
  expect(
    mock
      .stdout()
      .toString()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id),
  ).toEqual([1])
  expect(mock.stderr().toString()).toMatch(/the recorded server exited with 3 here without a response/)
})

it('over HTTP it breaks the connection, and says nothing more to that client', async () => {
  const tape = await recordDeath()
  const mock = stage.start([process.execPath, cli, 'mock', tape, '--listen', '127.0.0.1:0'])
  await printed(mock, '\n')
  const url = mock.stdout().toString().trim()
  const ask = (): Promise<unknown> => post(url, call, { 'mcp-session-id': session })
  const session = (await fetchSession(url))!
  await expect(ask()).rejects.toThrow('fetch failed')
  await expect(ask()).rejects.toThrow('fetch failed')
})

async function fetchSession(url: string): Promise<string | null> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return (await fetch(url, { method: 'POST', headers, body: initialize })).headers.get('mcp-session-id')
}

it('a recording of a server that could not be started is listed as failed', async () => {
  const recorder = stage.start(stage.record(['/no/such/server']))
  expect((await recorder.ended).exitCode).toBe(127)
  const listed = await wiretape(['ls', stage.out])
  expect(listed.stdout).toMatch(/✕ failed/)
  const [row] = JSON.parse((await wiretape(['ls', stage.out, '--json'])).stdout) as { state: string }[]
  expect(row!.state).toBe('failed')
})
