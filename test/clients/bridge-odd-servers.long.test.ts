import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, printed, server, until, type Actor, useStage } from '../behaviour/stage.js'
import { linesOfType } from '../behaviour/tape-bytes.js'

const stage = useStage()
let recorder: Actor
let url: string

/** A client with its own session. */
interface Client {
  readonly headers: Record<string, string>
  ask(id: number, method: string, params?: object): Promise<Response>
}

async function listen(...options: string[]): Promise<void> {
  const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out, ...options]
  recorder = stage.start([...argv, '--', ...server('odd-mcp.mjs')])
  await printed(recorder, '\n')
  url = recorder.stdout().toString().trim()
}

async function connect(): Promise<Client> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const ask: Client['ask'] = (id, method, params) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
  const begun = await ask(0, 'initialize', {})
  await begun.text()
  headers['mcp-session-id'] = begun.headers.get('mcp-session-id')!
  return { headers, ask }
}

const said = (): string => recorder.stderr().toString()
const tapeHas = (text: string): Promise<unknown> =>
  until(`${text} is on the tape`, () => readFileSync(stage.tape(), 'utf8').includes(text))

async function ended(): Promise<void> {
  recorder.child.kill('SIGTERM')
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  expect(stage.running()).toEqual([])
}

describe('a bridge to a server on stdio', () => {
  it('goes on for other clients when one does not read, and says so', async () => {
    await listen('--shared')
    const [lazy, other] = [await connect(), await connect()]
    const flood = request(url, { method: 'POST', headers: lazy.headers })
    flood.end('{"jsonrpc":"2.0","id":1,"method":"flood","params":{"count":300,"_meta":{"progressToken":1}}}')
    const [unread] = (await once(flood, 'response')) as [IncomingMessage]
    const lost = new Promise((resolve) => unread.once('error', resolve))
    // The server responds in order, so all earlier output must have been written.
    expect(await (await other.ask(1, 'echo')).json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(said().match(/a client that does not read was disconnected/g)).toHaveLength(1)
    unread.resume()
    await lost
    expect(unread.complete).toBe(false)
    await ended()
  })

  it('does not disconnect a slow client that has the server for itself', async () => {
    await listen()
    const client = await connect()
    const flood = await client.ask(1, 'flood', { count: 300, _meta: { progressToken: 1 } })
    const reader = flood.body!.getReader()
    let length = 0
    for (let part = await reader.read(); !part.done; part = await reader.read()) length += part.value.length
    expect(length).toBeGreaterThan(300 * 100_000)
    await ended()
    expect(said()).not.toContain('does not read')
  })

  it('records messages without a receiver, and says so', async () => {
    await listen()
    const client = await connect()
    await (await client.ask(15, 'noise')).text()
    const open = client.ask(16, 'other-id').then((response) => response.json())
    await tapeHas('"id":"16"')
    await ended()
    expect(await open).toEqual({
      jsonrpc: '2.0',
      id: 16,
      error: { code: 502, message: 'wiretape: the server was stopped' },
    })
    expect(said()).toMatch(
      /the server wrote a line to stdout that is not a message: .*\n.*the server sent a response that matches no pending request/,
    )
    expect(linesOfType(stage.tape(), 'noise')).toMatchObject([{ text: 'Listening…' }])
    const messages = linesOfType(stage.tape(), undefined)
    expect(messages.find(({ raw }) => raw.id === '16')).toMatchObject({ dir: 'out' })
    const numbers = messages.map(({ seq }) => seq)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(await wiretape(['inspect', stage.tape()])).toMatchObject({
      stdout: expect.stringMatching(/Listening…[^]*no request/),
    })
  })

  it('says that it guessed when a message may be for several clients', async () => {
    await listen('--shared')
    const [one, other] = [await connect(), await connect()]
    const first = one.ask(1, 'never').then((response) => response.text())
    await tapeHas('"never"')
    const second = (await other.ask(1, 'ask')).text()
    await until('it is said', () => said().includes('over stdio names no client'))
    await ended()
    expect(await first).toContain('the server was stopped')
    expect(await second).toMatch(/roots\/list[^]*the server was stopped/)
  })

  it('fails open requests before it ends, and the tape does not blame the server', async () => {
    await listen()
    const client = await connect()
    const open = client.ask(1, 'never')
    await tapeHas('"never"')
    await ended()
    const answer = await open
    expect([answer.status, await answer.text()]).toEqual([
      200,
      '{"jsonrpc":"2.0","id":1,"error":{"code":502,"message":"wiretape: the server was stopped"}}',
    ])
    expect(linesOfType(stage.tape(), 'http')).toEqual([])
  })
})
