import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { cli, postHeaders, printed } from './stage.js'
import { asked, call, useMockedTape } from './mock-stage.js'

const { stage, tapeOf } = useMockedTape()

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
