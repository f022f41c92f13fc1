/** A client, a recorder or a server is killed: no process is left over, and the tape can be read. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { cli, isRunning, kill, printed, server, until, type Actor, useStage } from './stage.js'

const stage = useStage()

const waiting = resolve(import.meta.dirname, '../fixtures/clients/waiting.mjs')
const client = (...argv: string[]): string[] => [process.execPath, waiting, ...argv]
const record = (...options: string[]): string[] => [
  process.execPath,
  cli,
  'record',
  '--out',
  stage.out,
  ...options,
]
const pidIn = async (actor: Actor): Promise<number> => {
  await printed(actor, 'pid ')
  return Number(/^pid (\d+)$/m.exec(actor.stdout().toString())![1])
}

async function startHttpServer(): Promise<{ server: Actor; url: string }> {
  const actor = stage.start(server('plain-http.mjs'))
  await printed(actor, '\n')
  return { server: actor, url: actor.stdout().toString().split('\n')[0]! }
}

/** The client waits for a response, and the tape has the messages so far. */
const everybodyWaits = (): Promise<unknown> =>
  until(
    'the call is on the tape',
    () => stage.tapes()[0] && readFileSync(stage.tape(), 'utf8').includes('"slow"'),
  )

const onlyRunning = (...actors: Actor[]): Promise<unknown> =>
  until('all others are gone', () => stage.running().every((pid) => actors.some((one) => one.pid === pid)))

/** It ends by itself, nothing else runs, and the tape is whole. */
async function expectEnd(actor: Actor): Promise<void> {
  expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
  await onlyRunning()
  await expectTape('closed')
}

async function expectTape(kind: 'closed' | 'cut'): Promise<void> {
  const shown = await wiretape(['inspect', stage.tape()])
  expect(shown.code).toBe(0)
  expect(shown.stdout).toMatch(/initialize[^]*tools\/call slow/)
  if (kind === 'cut') expect(shown.stdout).toContain('incomplete')
  else expect(shown.stdout).not.toContain('incomplete')
  const checked = await wiretape(['inspect', '--check', stage.tape()])
  // A tape that was cut off has no response to the call.
  if (kind === 'cut')
    expect(checked).toMatchObject({ code: 1, stdout: expect.stringContaining('incomplete') })
}

describe('a bridge from stdio to HTTP', () => {
  async function play(): Promise<{ client: Actor; recorder: number; server: Actor }> {
    const { server, url } = await startHttpServer()
    const actor = stage.start(client(...record('--bridge', '--url', url)))
    await everybodyWaits()
    return { client: actor, recorder: await pidIn(actor), server }
  }

  it('ends with its client, and deletes its session at the server', async () => {
    const { client, server } = await play()
    kill(client.pid)
    // The recorder waits for outstanding responses.
    server.child.kill('SIGUSR2')
    await printed(server, 'DELETE')
    await onlyRunning(server)
    await expectTape('closed')
  })

  it('leaves no process behind', async () => {
    const { client, recorder, server } = await play()
    kill(recorder)
    await printed(client, 'left alone')
    await onlyRunning(server)
    await expectTape('cut')
  })

  it('tells its client that the server is gone', async () => {
    const { client, server } = await play()
    kill(server.pid)
    await printed(client, '"id":2,"error":{"code":502,"message":"wiretape: ')
    await expectEnd(client)
  })
})

describe('a bridge from HTTP to stdio', () => {
  async function play(): Promise<{ client: Actor; recorder: Actor; url: string }> {
    const recorder = stage.start(record('--listen', '127.0.0.1:0', '--', ...server('mini-mcp.mjs')))
    await printed(recorder, '\n')
    const url = recorder.stdout().toString().trim()
    const actor = stage.start(client(url))
    await everybodyWaits()
    return { client: actor, recorder, url }
  }

  it.each([
    ['that does not end with its input', server('deaf.mjs')],
    ['that something else has started', ['sh', '-c', `"$0" "$@"; true`, ...server('deaf.mjs')]],
  ])('leaves no server behind %s', async (_, command) => {
    const recorder = stage.start(record('--listen', '127.0.0.1:0', '--', ...command))
    await printed(recorder, '\n')
    const body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
    const headers = { 'content-type': 'application/json' }
    const url = recorder.stdout().toString().trim()
    const asking = fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    await until('the server runs', () => stage.runningAs('deaf.mjs').length > 0)
    // The server runs for a moment before its parent can report it.
    await fetch(url, { method: 'PUT' })
    kill(recorder.pid)
    await onlyRunning()
    await asking
  })

  it('goes on without a client, for others', async () => {
    const { client: first, recorder, url } = await play()
    kill(first.pid)
    const second = stage.start(client(url))
    await printed(second, '"mini-mcp"')
    second.child.kill('SIGTERM')
    recorder.child.kill('SIGTERM')
    await expectEnd(recorder)
  })

  it('leaves no process behind', async () => {
    const { client, recorder } = await play()
    kill(recorder.pid)
    await printed(client, 'left alone')
    await onlyRunning()
    await expectTape('cut')
  })

  it('tells its client that the server is gone', async () => {
    const { client, recorder } = await play()
    const [serverPid] = stage.runningAs('mini-mcp.mjs')
    kill(serverPid!)
    await printed(client, '"id":2,"error":{"code":502,"message":"wiretape: the server ended (SIGKILL)')
    await client.ended
    recorder.child.kill('SIGTERM')
    await expectEnd(recorder)
  })
})

describe('a forward proxy', () => {
  async function play(): Promise<{ client: number; recorder: Actor; server: Actor }> {
    const { server, url } = await startHttpServer()
    const recorder = stage.start(record('--forward', '--', ...client(url)))
    await everybodyWaits()
    return { client: await pidIn(recorder), recorder, server }
  }

  it('ends as its client did', async () => {
    const { client, recorder, server } = await play()
    kill(client)
    expect(await recorder.ended).toEqual({ exitCode: 137, signal: null })
    await onlyRunning(server)
    await expectTape('closed')
  })

  it('leaves no process behind', async () => {
    const { client, recorder, server } = await play()
    kill(recorder.pid)
    await until('the client is gone', () => !isRunning(client))
    await onlyRunning(server)
    await expectTape('cut')
  })

  it('leaves no client behind that would go on without the proxy', async () => {
    const { server, url } = await startHttpServer()
    const goesOn = `echo pid $$; "$0" "$@"; while :; do sleep 0.05; done`
    const recorder = stage.start(record('--forward', '--', 'sh', '-c', goesOn, ...client(url)))
    const pid = await pidIn(recorder)
    await everybodyWaits()
    kill(recorder.pid)
    await until('the client is gone', () => !isRunning(pid))
    await onlyRunning(server)
  })

  it('tells its client that the server is gone', async () => {
    const { recorder, server } = await play()
    kill(server.pid)
    await printed(recorder, 'left alone')
    await expectEnd(recorder)
  })
})

describe('a replay', () => {
  it('leaves no server behind', async () => {
    const tape = resolve(stage.out, 'talk.jsonl')
    mkdirSync(stage.out, { recursive: true })
    const ping = '{"t":"2026-08-01T10:00:00.000Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}'
    const meta = '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":[]}'
    writeFileSync(tape, `${meta}\n${ping}\n`)
    const heard = resolve(stage.out, 'heard')
    const stubborn = `process.stdin.once('data', () => require('node:fs').writeFileSync(process.argv[1], ''))
      setTimeout(() => {}, 60_000)`
    const command = [process.execPath, '-e', stubborn, heard]
    const replay = stage.start([process.execPath, cli, 'replay', tape, '--', ...command])
    await until('the server has heard something', () => existsSync(heard))
    kill(replay.pid)
    await onlyRunning()
  })
})
