import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it } from 'vitest'
import { printed, server, until, useStage } from '../behaviour/stage.js'
import { linesOfTape, linesOfType, type Line } from '../behaviour/tape-bytes.js'
import { overStdio, use, useDirectly, useModern } from './bridge-uses.js'
import { startEverything } from './everything.js'
import { freePort } from './free-port.mjs'

const stage = useStage()

const bridgeTo = (url: string, ...options: string[]): string[] =>
  stage.recordWith('--bridge', '--url', url, ...options)

describe('a client on stdio and a server over HTTP', () => {
  it.each(['streamableHttp', 'sse'] as const)('understand one another: %s', async (transport) => {
    const without = await useDirectly(stage)
    const url = await startEverything(transport)
    expect(await use(overStdio(stage, bridgeTo(url)))).toEqual(without)
    await until('the tape is closed', () => linesOfTape(stage.tape()).at(-1)!['type'] === 'end')
    expect(linesOfTape(stage.tape())[0]).toMatchObject({ wiretape: { transport: 'streamable-http', url } })
    const methods = linesOfType(stage.tape(), undefined).map(({ raw }) => raw.method)
    const versions = linesOfType(stage.tape(), undefined).map(({ http }) =>
      http.headers?.find(([name]: string[]) => name!.toLowerCase() === 'mcp-protocol-version'),
    )
    expect(versions.filter((found) => found?.[1] === '2025-11-25').length).toBeGreaterThan(3)
    for (const method of [
      'sampling/createMessage',
      'elicitation/create',
      'notifications/progress',
      'notifications/cancelled',
    ])
      expect(methods).toContain(method)
  })

  it('understand one another without a session (2026-07-28)', async () => {
    const argv = server('sdk-modern.mjs')
    const stdio = (command: readonly string[]): ModernStdio =>
      new ModernStdio({
        command: command[0]!,
        args: command.slice(1),
        env: stage.env as Record<string, string>,
        stderr: 'ignore',
      })
    const direct = await useModern(stdio(argv))
    const upstream = stage.start(server('sdk-modern-http.mjs'))
    await printed(upstream, '\n')
    const url = upstream.stdout().toString().split('\n')[0]!
    const bridged = await useModern(stdio(bridgeTo(url)))
    expect(bridged).toEqual(direct)
    await until('the server hears of the cancellation', () =>
      upstream.stdout().includes('"closed":"tools/call"'),
    )
  })

  it('use the headers that the client configured, with values of the environment', async () => {
    const seen: string[] = []
    const upstream = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (chunk) => {
        seen.push(String(chunk))
        socket.end(
          'HTTP/1.1 401 Unauthorized\r\nContent-Length: 16\r\nConnection: close\r\n\r\nno!! plain words',
        )
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`
    const options = [
      '--header',
      'Authorization: Bearer ${MY_TOKEN}',
      '--header',
      'X-Two: 2',
      '--header',
      'X-Odd: ${ODD_ONE}',
    ]
    const missing = stage.start(bridgeTo(url, ...options))
    expect(await missing.ended).toMatchObject({ exitCode: 2 })
    expect(missing.stderr().toString()).toMatch(
      /^wiretape: --header Authorization: unknown variable MY_TOKEN \(.*\)\n$/,
    )
    const actor = stage.start(bridgeTo(url, ...options), {
      env: { ...stage.env, MY_TOKEN: 'hush-hush', ODD_ONE: 'plain words' },
    })
    actor.stdin.end('{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}\nno JSON\n')
    expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
    const said = actor
      .stdout()
      .toString()
      .trim()
      .split('\n')
      .map((line): Line => JSON.parse(line))
    expect(said).toContainEqual({
      jsonrpc: '2.0',
      id: 'a',
      error: { code: 401, message: 'wiretape: HTTP 401 Unauthorized: no!! plain words' },
    })
    expect(said).toContainEqual(
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32700 }) }),
    )
    expect(seen[0]).toMatch(/\r\nAuthorization: Bearer hush-hush\r\nX-Two: 2\r\nX-Odd: plain words\r\n/)
    expect(readFileSync(stage.tape(), 'utf8')).toMatch(/^(?!.*(hush-hush|plain words)).*no!! \[REDACTED\]/s)
    upstream.close()
  })

  it('follow a redirect to the same origin, and to no other', async () => {
    let origin = ''
    const asked: string[] = []
    const upstream = createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      request.resume()
      const location = {
        '/mcp': `${origin}/mcp/`,
        '/mcp/': '/mcp/v1?x=1',
        '/away': 'http://elsewhere.test/mcp?code=1',
      }[request.url!]
      if (location !== undefined) return void response.writeHead(307, { Location: location }).end()
      request.on('end', () =>
        response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end('{"jsonrpc":"2.0","id":1,"result":{}}'),
      )
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    for (const [path, expected] of [
      ['/mcp', '"id":1,"result":{}}'],
      [
        '/away',
        '"code":307,"message":"wiretape: HTTP 307 Temporary Redirect: redirected to http://elsewhere.test/mcp; use',
      ],
    ]) {
      const actor = stage.start(bridgeTo(origin + path, '--header', 'Authorization: Bearer hush'))
      actor.stdin.end('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
      expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
      expect(actor.stdout().toString()).toContain(expected)
    }
    expect(asked).toEqual(['/mcp', '/mcp/', '/mcp/v1?x=1', '/away'].map((path) => `POST ${path} Bearer hush`))
    upstream.closeAllConnections()
    upstream.close()
  })

  it('fail when a server of HTTP+SSE is gone', async () => {
    const answer = (id: unknown): string =>
      `event: message\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"protocolVersion":"2024-11-05"}}\n\n`
    let events: ServerResponse | undefined
    const upstream = createHttpServer((request, response) => {
      if (request.method === 'GET') {
        events = response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        events.write('event: endpoint\ndata: /message\n\n')
        return
      }
      if (request.url === '/sse') return void response.writeHead(405).end()
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        const { id, method }: Line = JSON.parse(body)
        response.writeHead(202).end()
        if (method === 'initialize') events!.write(answer(id))
        else if (id === 3) events!.destroy()
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    const actor = stage.start(bridgeTo(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/sse`))
    await actor.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    await printed(actor, '"id":1,"result"')
    for (const id of [2, 3]) await actor.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`)
    expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
    const said = actor.stdout().toString()
    for (const id of [2, 3])
      expect(said).toContain(
        `{"jsonrpc":"2.0","id":${id},"error":{"code":502,"message":"wiretape: the server ended its event stream`,
      )
    expect(actor.stderr().toString()).toMatch(
      /^wiretape: the server ended its event stream: .*; the session has ended\n$/,
    )
    upstream.close()
    upstream.closeAllConnections()
  })

  it('get an error for open requests when a signal ends the session', async () => {
    const upstream = createHttpServer(() => undefined).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    const asked = once(upstream, 'request')
    const actor = stage.start(bridgeTo(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`))
    await actor.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    await asked
    actor.child.kill('SIGTERM')
    expect(await actor.ended).toEqual({ exitCode: 143, signal: null })
    expect(actor.stdout().toString()).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":502,"message":"wiretape: the recorder was stopped"}}\n',
    )
    upstream.closeAllConnections()
    upstream.close()
  })

  it('get an error when the server cannot be reached', async () => {
    const nowhere = stage.start(bridgeTo(`http://127.0.0.1:${await freePort()}/mcp`))
    nowhere.stdin.end('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    expect(await nowhere.ended).toMatchObject({ exitCode: 0 })
    expect(nowhere.stdout().toString()).toMatch(/"id":1,"error":\{"code":502,.*connection was refused/)
  })
})
