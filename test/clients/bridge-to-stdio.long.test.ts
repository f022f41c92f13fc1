import { readFileSync } from 'node:fs'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { cli, kill, printed, server, until, type Actor, useStage } from '../behaviour/stage.js'
import { linesOfTape, linesOfType } from '../behaviour/tape-bytes.js'
import { use, useDirectly, useModern } from './bridge-uses.js'
import { everythingOnStdio } from './everything.js'

const stage = useStage()

/** A recorder that serves a stdio server to HTTP clients at a URL. */
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

describe('clients over HTTP and a server on stdio', () => {
  it.each([[[]], [['--shared']]])('understand one another: %j', async (options) => {
    const without = await useDirectly(stage)
    const { url, ended } = await listenFor(everythingOnStdio, ...options)
    expect(await use(new StreamableHTTPClientTransport(new URL(url)))).toEqual(without)
    await ended()
    const tape = stage.tape()
    expect(linesOfTape(tape)[0]).toMatchObject({
      command: everythingOnStdio,
      wiretape: { transport: 'stdio', url: null },
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
        // The last progress notification and the response arrive in one tick.
        expect(reports.length).toBeGreaterThanOrEqual(n)
      }
      await client.close()
    })
    await Promise.all(clients)
    await ended()
    const messages = linesOfType(stage.tape(), undefined)
    expect(messages.filter(({ raw }) => raw.result?.content)).toHaveLength(120)
  })

  it('are not mixed up without sessions, though they choose the same ids (2026-07-28)', async () => {
    const { url, ended } = await listenFor(server('sdk-modern.mjs'))
    const connect = async (name: string): Promise<{ client: ModernClient; changes: () => number }> => {
      const client = new ModernClient(
        { name, version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      let changes = 0
      client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
      await client.connect(new ModernHttp(new URL(url)))
      return { client, changes: () => changes }
    }
    const [one, other] = [await connect('one'), await connect('other')]
    const echo = async ({ client }: { client: ModernClient }, text: string): Promise<void> => {
      const result = await client.callTool({ name: 'echo', arguments: { text } })
      expect(result).toMatchObject({ content: [{ text }] })
    }
    const each = Array.from({ length: 10 }, (_, n) => n)
    await Promise.all(each.flatMap((n) => [echo(one, `one ${n}`), echo(other, `other ${n}`)]))

    // Both calls have the same id, and only one of them is cancelled.
    const calls = [one, other].map(({ client }) => {
      const stop = new AbortController()
      let reports = 0
      const onprogress = (): void => void (reports += 1)
      const answer = client.callTool({ name: 'slow' }, { signal: stop.signal, onprogress })
      return { stop, reports: () => reports, answer: answer.catch((error: unknown) => String(error)) }
    })
    await until('both are told of progress', () => calls.every(({ reports }) => reports() === 1))
    let stillWaits = true
    void calls[1]!.answer.then(() => (stillWaits = false))
    calls[0]!.stop.abort('enough')
    expect(await calls[0]!.answer).toContain('enough')

    const subscription = await one.client.listen({ toolsListChanged: true })
    expect(await other.client.callTool({ name: 'grow' })).toMatchObject({
      content: [{ text: 'There is a new tool' }],
    })
    await until('who listens is told', () => one.changes() === 1)
    await echo(other, 'after')
    expect([other.changes(), stillWaits]).toEqual([0, true])
    await subscription.close()
    calls[1]!.stop.abort('me too')
    await calls[1]!.answer
    await Promise.all([one.client.close(), other.client.close()])
    await ended()
    const sent = linesOfType(stage.tape(), undefined).filter(({ raw }) => raw.params?.name === 'slow')
    expect(sent).toHaveLength(2)
    expect(sent[0]!['raw'].id).toBe(sent[1]!['raw'].id)
    expect(linesOfType(stage.tape(), 'stderr')).toEqual([])
  })

  it('resume a broken stream, and miss no message', async () => {
    const { url, ended } = await listenFor(server('mini-mcp.mjs'))
    let cuts = 0
    /** Breaks the stream of the first call of `slow` after its start. */
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
    const messages = linesOfType(stage.tape(), undefined)
    const call = messages.find(({ raw }) => raw.params?.name === 'slow')!
    const [answer, ...others] = messages.filter(({ raw }) => raw.id === call['raw'].id && raw.result)
    expect(others).toEqual([])
    // The response came on the resumed stream.
    expect(answer).toMatchObject({
      corr: call['id'],
      http: { status: 200 },
      sse: { event: 'message', id: expect.stringMatching(/^\d+-1$/) },
    })
    expect(answer!['http'].exchange).toBeGreaterThan(call['http'].exchange)
  })

  it('get an error when a server is killed, and others go on', async () => {
    const { url, ended } = await listenFor(server('mini-mcp.mjs'))
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: 'c', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      return client
    }
    const [one, other] = [await connect(), await connect()]
    const slow = one.callTool({ name: 'slow', arguments: { ms: 60_000 } })
    const echo = { name: 'echo', arguments: { text: 'here' } }
    await one.callTool(echo)
    kill(Math.min(...stage.runningAs('mini-mcp.mjs')))
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

  it('get the reason when their requests are invalid', async () => {
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

  it('get an error at once when the server ends, and its user a message', async () => {
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
