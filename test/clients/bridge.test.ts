import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
  type Transport as ModernTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, createStage, kill, printed, server, until, type Actor, type Stage } from '../behaviour/stage.js'
import { freePort } from './free-port.js'
import { linesOfTape, linesOfType, type Line } from '../behaviour/tape-bytes.js'

const everything = ((): string => {
  const manifest = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  )
  return join(dirname(manifest), 'dist/index.js')
})()

/** What comes of it without us. */
let direct: Promise<unknown[]> | undefined
let stage: Stage
beforeEach(() => {
  stage = createStage()
})
afterEach(() => stage.close())

async function serveEverything(transport: 'streamableHttp' | 'sse'): Promise<{ url: string; actor: Actor }> {
  const port = await freePort()
  const actor = stage.start([process.execPath, everything, transport], {
    env: { ...stage.env, PORT: String(port) },
  })
  await until('the server listens', () => actor.stderr().includes(String(port)))
  return { url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`, actor }
}

const bridgeTo = (url: string, ...options: string[]): string[] => [
  process.execPath,
  cli,
  'record',
  '--bridge',
  '--url',
  url,
  '--out',
  stage.out,
  ...options,
]

function overStdio(argv: readonly string[]): StdioClientTransport {
  const env = stage.env as Record<string, string>
  return new StdioClientTransport({ command: argv[0]!, args: argv.slice(1), env, stderr: 'ignore' })
}

/** A recorder that gives HTTP clients a URL for a stdio server. */
async function listenFor(
  command: readonly string[],
  ...options: string[]
): Promise<{ recorder: Actor; url: string; ended: () => Promise<void> }> {
  const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out, ...options]
  const recorder = stage.start([...argv, '--', ...command], { detached: true })
  await printed(recorder, '\n')
  return {
    recorder,
    url: recorder.stdout().toString().trim(),
    async ended() {
      recorder.child.kill('SIGTERM')
      expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
      expect(stage.running()).toEqual([])
    },
  }
}

/** Everything that a server can ask of a client, and a client of a server. */
async function use(transport: Transport): Promise<unknown[]> {
  const client = new Client({ name: 'c', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } })
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: 'sampled' },
  }))
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { name: 'Ada', check: true },
  }))
  const outcomes: unknown[] = []
  const step = async (run: () => Promise<unknown>): Promise<void> => {
    outcomes.push(await run().catch((error: unknown) => String(error)))
  }
  const tool = (name: string, args: Record<string, unknown> = {}): Promise<void> =>
    step(() => client.callTool({ name, arguments: args }))
  await client.connect(transport)
  outcomes.push(client.getServerVersion(), client.getServerCapabilities())
  await step(() => client.listTools())
  await tool('echo', { message: 'ÅÄÖ 🎞\u2028' })
  await tool('trigger-sampling-request', { prompt: 'x', maxTokens: 5 })
  await tool('trigger-elicitation-request')
  const progress: unknown[] = []
  const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } }
  await step(() => client.callTool(long, undefined, { onprogress: (report) => progress.push(report) }))
  // The last report may come with the answer, and is not looked at then.
  outcomes.push(progress.length >= 3)
  const stop = new AbortController()
  const hanging = { ...long, arguments: { duration: 60, steps: 600 } }
  await step(() =>
    client.callTool(hanging, undefined, { signal: stop.signal, onprogress: () => stop.abort('enough') }),
  )
  await tool('no-such-tool')
  await step(() => client.readResource({ uri: 'demo://nothing' }))
  await step(() => client.ping())
  await client.close()
  return outcomes
}

async function useModern(transport: ModernTransport): Promise<unknown[]> {
  const client = new ModernClient(
    { name: 'test-client', version: '2.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { ok: true } }))
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
  await client.connect(transport)
  const outcomes: unknown[] = [client.getServerVersion(), await client.listTools()]
  const call = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    client.callTool({ name, arguments: args }).catch((error: unknown) => String(error))
  outcomes.push(await call('echo', { text: 'ÅÄÖ', place: 'Malmö' }), await call('book', { what: 'a table' }))
  // What it reports may come with the answer, and is not looked at then; that of `slow` is waited for.
  outcomes.push(await client.callTool({ name: 'steps' }, { onprogress: () => undefined }))
  const stop = new AbortController()
  const slow = { signal: stop.signal, onprogress: () => stop.abort('enough') }
  outcomes.push(await client.callTool({ name: 'slow' }, slow).catch((error: unknown) => String(error)))
  const subscription = await client.listen({ toolsListChanged: true })
  outcomes.push(subscription.honoredFilter, await call('grow'))
  await until('the change is announced', () => changes > 0)
  await subscription.close()
  outcomes.push(await call('grown'), await call('no-such-tool'))
  await client.close()
  return JSON.parse(JSON.stringify(outcomes).replaceAll('sdk-modern-http', 'sdk-modern'))
}

describe('a client on stdio and a server over HTTP', () => {
  it.each(['streamableHttp', 'sse'] as const)('understand one another: %s', async (transport) => {
    const without = await (direct ??= use(overStdio([process.execPath, everything, 'stdio'])))
    const { url } = await serveEverything(transport)
    expect(await use(overStdio(bridgeTo(url)))).toEqual(without)
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

  it('send the headers that the client configured, with what the environment says', async () => {
    const seen: string[] = []
    const upstream = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (chunk) => {
        seen.push(String(chunk))
        socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\nConnection: close\r\n\r\nno!!')
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`
    const options = ['--header', 'Authorization: Bearer ${MY_TOKEN}', '--header', 'X-Two: 2']
    const missing = stage.start(bridgeTo(url, ...options))
    expect(await missing.ended).toMatchObject({ exitCode: 2 })
    expect(missing.stderr().toString()).toMatch(
      /^wiretape: --header Authorization: there is no variable MY_TOKEN \(.*\)\n$/,
    )
    const actor = stage.start(bridgeTo(url, ...options), { env: { ...stage.env, MY_TOKEN: 'hush-hush' } })
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
      error: { code: 401, message: 'wiretape: HTTP 401 Unauthorized: no!!' },
    })
    expect(said).toContainEqual(
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32700 }) }),
    )
    expect(seen[0]).toMatch(/\r\nAuthorization: Bearer hush-hush\r\nX-Two: 2\r\n/)
    expect(readFileSync(stage.tape(), 'utf8')).not.toContain('hush-hush')
    upstream.close()
  })

  it('fail one another properly when the server is not there', async () => {
    const nowhere = stage.start(bridgeTo(`http://127.0.0.1:${await freePort()}/mcp`))
    nowhere.stdin.end('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
    expect(await nowhere.ended).toMatchObject({ exitCode: 0 })
    expect(nowhere.stdout().toString()).toMatch(/"id":1,"error":\{"code":502,.*connection was refused/)
  })
})

describe('clients over HTTP and a server on stdio', () => {
  it.each([[[]], [['--shared']]])('understand one another: %j', async (options) => {
    const without = await (direct ??= use(overStdio([process.execPath, everything, 'stdio'])))
    const { url, ended } = await listenFor([process.execPath, everything, 'stdio'], ...options)
    expect(await use(new StreamableHTTPClientTransport(new URL(url)))).toEqual(without)
    await ended()
    const tape = stage.tape()
    expect(linesOfTape(tape)[0]).toMatchObject({
      command: [process.execPath, everything, 'stdio'],
      wiretape: { transport: 'streamable-http', url: null },
    })
    expect(linesOfType(tape, 'stderr').length).toBeGreaterThan(0)
    expect(new Set(linesOfType(tape, undefined).map(({ conv }) => conv)).size).toBe(1)
  })

  it('understand one another without a session (2026-07-28)', async () => {
    const upstream = stage.start(server('sdk-modern-http.mjs'))
    await printed(upstream, '\n')
    const direct = await useModern(new ModernHttp(new URL(upstream.stdout().toString().split('\n')[0]!)))
    kill(upstream.pid)
    await upstream.ended
    const { url, ended } = await listenFor(server('sdk-modern.mjs'))
    const bridged = await useModern(new ModernHttp(new URL(url)))
    expect(bridged).toEqual(direct)
    await ended()
  })

  it.each([[[]], [['--shared']]])('are not mixed up, 20 at once: %j', async (options) => {
    const { url, ended } = await listenFor(server('mini-mcp.mjs'), ...options)
    const clients = Array.from({ length: 20 }, async (_, n) => {
      const client = new Client({ name: `client-${n}`, version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      for (let i = 0; i < 3; i += 1) {
        const result = await client.callTool({ name: 'echo', arguments: { text: `${n}-${i}` } })
        expect(result).toMatchObject({ content: [{ text: `${n}-${i}` }] })
        const reports: unknown[] = []
        const onprogress = (report: unknown): void => void reports.push(report)
        await client.callTool({ name: 'progress', arguments: { steps: n + 1 } }, undefined, { onprogress })
        // The last report and the answer are told in one tick.
        expect(reports.length).toBeGreaterThanOrEqual(n)
      }
      await client.close()
    })
    await Promise.all(clients)
    await ended()
    const messages = linesOfType(stage.tape(), undefined)
    expect(messages.filter(({ raw }) => raw.result?.content)).toHaveLength(120)
  })

  it('take up a stream that broke, and miss nothing', async () => {
    const { url, ended } = await listenFor(server('mini-mcp.mjs'))
    let cuts = 0
    /** Breaks the stream of the first call of `slow` when it has begun. */
    const cutting = async (to: string | URL, init: RequestInit = {}): Promise<Response> => {
      if (cuts > 0 || !(init.body as string | undefined)?.includes('"slow"')) return fetch(to, init)
      cuts += 1
      const broken = new AbortController()
      const response = await fetch(to, { ...init, signal: broken.signal })
      const reader = response.body!.getReader()
      const { value } = await reader.read()
      broken.abort()
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(value)
          controller.close()
        },
      })
      return new Response(body, response)
    }
    const client = new Client({ name: 'c', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: cutting }))
    const slow = { name: 'slow', arguments: { ms: 50 } }
    expect(await client.callTool(slow)).toMatchObject({ content: [{ text: 'Waited 50 ms' }] })
    expect(cuts).toBe(1)
    await client.close()
    await ended()
    const [answer, ...others] = linesOfType(stage.tape(), undefined).filter(
      ({ raw }) => raw.id === 1 && raw.result,
    )
    expect(others).toEqual([])
    // It came on the stream that took the place of the first one.
    expect(answer).toMatchObject({ sse: { event: 'message', id: expect.stringMatching(/^\d+-1$/) } })
    const resumed = linesOfType(stage.tape(), 'http').find(({ requestHeaders = [] }) =>
      requestHeaders.some(([name]: string[]) => name!.toLowerCase() === 'last-event-id'),
    )
    expect(resumed).toMatchObject({ method: 'GET', status: 200 })
  })

  it('hear of a server that is killed, and others go on', async () => {
    const { url, recorder, ended } = await listenFor(server('mini-mcp.mjs'))
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: 'c', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      return client
    }
    const [one, other] = [await connect(), await connect()]
    const pids = (): number[] => stage.running().filter((pid) => pid !== recorder.pid)
    const slow = one.callTool({ name: 'slow', arguments: { ms: 60_000 } })
    const echo = { name: 'echo', arguments: { text: 'here' } }
    await one.callTool(echo)
    kill(Math.min(...pids()))
    await expect(slow).rejects.toThrow(/wiretape: the server ended \(SIGKILL\)/)
    await expect(one.callTool(echo)).rejects.toThrow(/no such session/)
    expect(await other.callTool(echo)).toMatchObject({ content: [{ text: 'here' }] })
    for (const client of [one, other]) await client.close()
    await ended()
  })

  it('leave no process and a readable tape when the recorder is killed', async () => {
    const { url, recorder } = await listenFor(server('mini-mcp.mjs'))
    const client = new Client({ name: 'c', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await until('it is on the tape', () =>
      readFileSync(stage.tape(), 'utf8').includes('notifications/initialized'),
    )
    kill(recorder.pid)
    await until('all are gone', () => stage.running().length === 0)
    expect(linesOfType(stage.tape(), undefined).length).toBeGreaterThanOrEqual(3)
    await client.close()
  })

  it('are told what is wrong with what they send', async () => {
    const { url, ended } = await listenFor(server('mini-mcp.mjs'))
    const json = { 'content-type': 'application/json' }
    const ask = async (init: RequestInit): Promise<[number, string]> => {
      const response = await fetch(url, { method: 'POST', headers: json, ...init })
      return [response.status, await response.text()]
    }
    expect(await ask({ body: 'no' })).toEqual([400, expect.stringContaining('-32700')])
    expect(await ask({ body: '{"jsonrpc":"2.0"}' })).toEqual([400, expect.stringContaining('-32600')])
    expect(await ask({ body: '{}', headers: {} })).toEqual([415, expect.any(String)])
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    expect(await ask({ body: ping })).toEqual([400, expect.stringContaining('Mcp-Session-Id is missing')])
    expect(await ask({ body: ping, headers: { ...json, 'mcp-session-id': 'x' } })).toEqual([
      404,
      expect.any(String),
    ])
    expect((await fetch(url, { headers: { accept: 'text/event-stream' } })).status).toBe(400)
    expect((await fetch(url.replace('/mcp', '/x'))).status).toBe(404)
    const evil = await fetch(url, {
      method: 'POST',
      headers: { ...json, origin: 'https://evil.example' },
      body: ping,
    })
    expect(evil.status).toBe(403)
    await ended()
  })

  it('are not waited for when the server cannot be started', async () => {
    const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out, '--']
    const recorder = stage.start([...argv, '/no/such/server'])
    expect(await recorder.ended).toEqual({ exitCode: 127, signal: null })
    expect(recorder.stdout().toString()).toBe('')
    expect(recorder.stderr().toString()).toBe(
      'wiretape: cannot start "/no/such/server": no such program (nothing was recorded)\n',
    )
  })

  it('are told that the server ends at once, and so is its user', async () => {
    const { url, recorder, ended } = await listenFor(server('exit-with.mjs', '3'))
    const body = '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}'
    for (let n = 0; n < 2; n += 1) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(response.headers.get('mcp-session-id')).toBeNull()
      expect([response.status, await response.json()]).toEqual([
        200,
        { jsonrpc: '2.0', id: 7, error: { code: 502, message: 'wiretape: the server ended (exit 3)' } },
      ])
    }
    await ended()
    expect(
      recorder
        .stderr()
        .toString()
        .match(/wiretape: the server ended \(exit 3\)/g),
    ).toHaveLength(1)
  })
})
