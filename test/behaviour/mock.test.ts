import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { wiretape, type Run } from './run-cli.js'
import { cli, postHeaders, printed, useStage } from './stage.js'

const stage = useStage()

const meta = '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":["x"]}'
const end = '{"t":"2026-08-01T10:00:09.000Z","type":"end","exitCode":0,"durationMs":9000}'

/** A tape of lines such as `> {…}` (client) and `< {…}` (server), half a second apart; `"jsonrpc"` is added. */
function tapeOf(...messages: string[]): string {
  const lines = messages.map((line, i) => {
    const raw = line.slice(2).replace('{', '{"jsonrpc":"2.0",')
    const t = new Date(Date.parse('2026-08-01T10:00:00.000Z') + i * 500).toISOString()
    return `{"t":"${t}","dir":"${line.startsWith('>') ? 'in' : 'out'}","raw":${raw}}`
  })
  const path = stage.path('tape.jsonl')
  writeFileSync(path, [meta, ...lines, end, ''].join('\n'))
  return path
}

/** Output of the mock for these messages, line by line. */
async function asked(args: string[], ...messages: string[]): Promise<Run & { lines: string[] }> {
  const input = messages.map((text) => `${text.replace('{', '{"jsonrpc":"2.0",')}\n`).join('')
  const run = await wiretape(['mock', ...args], { input })
  return { ...run, lines: run.stdout.split('\n').slice(0, -1) }
}

const call = (id: string, name: string, args = '{}', more = ''): string =>
  `{"id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}${more}}}`

describe('mock', () => {
  it('sends the recorded text with the live id, to the character', async () => {
    const odd = '"result":{"big":12345678901234567890, "n":1.0,"é":"\\u00e9","b":1,"b":2}}'
    const tape = tapeOf(
      `> ${call('1', 'a', '{"x":1,"y":[true]}')}`,
      `< {${odd.replace('}', '}')}`.replace('{"result"', '{"id":1,"result"'),
    )
    const { lines, code, stderr } = await asked(
      [tape],
      call('"s-1"', 'a', '{ "y": [true], "x": 1.0 }', ',"_meta":{"vendor/id":"9","traceparent":"00-1"}'),
    )
    expect(lines).toEqual([`{"jsonrpc":"2.0","id":"s-1",${odd}`])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('responds to text that is not JSON-RPC with an error, as servers do, so that no client waits', async () => {
    const tape = tapeOf(`> ${call('1', 'a')}`, '< {"id":1,"result":{}}')
    const input = [
      '{"id":9,"method":"ping"}',
      '[]',
      '5',
      '{"jsonrpc":"2.0","id":{},"method":"a"}',
      '{"id":9,"result":1}',
    ]
    const { stdout, code } = await wiretape(['mock', tape], { input: `${input.join('\n')}\n` })
    const said = stdout.split('\n').slice(0, -1)
    expect(said.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error.code])).toEqual([
      [9, -32600],
      [null, -32600],
      [null, -32600],
      [null, -32600],
    ])
    expect(code).toBe(0)
  })

  it('reports a call that the recorded server never responded to', async () => {
    const tape = tapeOf(`> ${call('1', 'hang')}`, '< {"method":"notifications/x"}')
    const { lines } = await asked([tape], call('2', 'hang'))
    expect(JSON.parse(lines[1]!).error).toMatchObject({
      code: -31404,
      message: 'wiretape mock: tools/call hang got no response in the recording (#0)',
    })
  })
})

describe('mock over HTTP', () => {
  const tape = (): string => tapeOf(`> ${call('1', 'a')}`, '< {"id":1,"result":{}}')

  it('refuses requests of web pages and of other host names, and does not listen to other machines', async () => {
    const mock = stage.start([process.execPath, cli, 'mock', tape(), '--listen', '0'], { detached: true })
    await printed(mock, '\n')
    const url = mock.stdout().toString().trim()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { ...postHeaders, ...headers },
        body: `{"jsonrpc":"2.0",${call('1', 'a').slice(1)}`,
      })
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await post({})).status).toBe(200)
    expect((await fetch(url, { method: 'POST', headers: postHeaders, body: '{' })).status).toBe(400)
    expect((await fetch(`${url}/other`, { method: 'POST', body: '{}' })).status).toBe(404)
    mock.child.kill('SIGINT')
    expect(await mock.ended).toEqual({ exitCode: 0, signal: null })
    const refused = await wiretape(['mock', tape(), '--listen', '0.0.0.0:0'], { isRefused: true })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/^wiretape: Cannot listen on 0\.0\.0\.0: [^\n]*\n$/)
    expect(refused.stderr).not.toContain('--allow-remote')
  })

  it('says in one line that the port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { code, stdout, stderr } = await wiretape(['mock', tape(), '--listen', String(port)])
    taken.close()
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `wiretape: Cannot listen on 127.0.0.1, port ${port}: the port is in use.\n`,
    })
  })
})

describe('mock ends', () => {
  it('by a signal, as a server does', async () => {
    const mock = stage.start(
      [process.execPath, cli, 'mock', tapeOf(`> ${call('1', 'a')}`, '< {"id":1,"result":{}}')],
      {
        detached: true,
      },
    )
    await mock.send('{"jsonrpc":"2.0","id":4,"method":"ping"}\n')
    await printed(mock, '"id":4')
    mock.child.kill('SIGTERM')
    expect((await mock.ended).exitCode).toBe(143)
  })
})
