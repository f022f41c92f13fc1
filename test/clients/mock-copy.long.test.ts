import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mock, readRecording, type RecordedMessage } from '../../src/index.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, createStage, printed, type Stage } from '../behaviour/stage.js'
import { everythingOnStdio, startEverything } from './everything.js'

let stage: Stage
let recorded: string
let url: string
beforeAll(async () => {
  stage = createStage()
  await talk(new StdioClientTransport(startOf(stage.record(everythingOnStdio))), 'one', 'two', 'three')
  recorded = stage.tape()
  url = await startEverything('streamableHttp')
})
afterAll(() => stage.close())

const startOf = ([command, ...args]: readonly string[]): { command: string; args: string[] } => ({
  command: command!,
  args,
})

/** The official client initializes and sends these messages. */
async function talk(transport: Transport, ...messages: string[]): Promise<void> {
  const client = new Client({ name: 'c', version: '1' })
  await client.connect(transport)
  for (const message of messages) await client.callTool({ name: 'echo', arguments: { message } })
  await client.close()
}

/** Requests of the client in a recording, in order. */
async function asked(path: string): Promise<string[]> {
  const recording = await readRecording(path)
  const told: string[] = []
  for await (const { direction, method, text } of recording.messages()) {
    if (direction !== 'client_to_server') continue
    told.push(method === 'tools/call' ? /"message":"([^"]*)"/.exec(text)![1]! : method!)
  }
  return told
}

async function expectReplays(copy: string): Promise<void> {
  for (const target of [
    ['--', ...everythingOnStdio],
    ['--url', url],
  ]) {
    // Over HTTP, a notification that the recorded client got before its next request may come late or never.
    const { code, stdout } = await wiretape(['replay', copy, '--timeout', '4s', ...target])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Same: /m) })
  }
  expect((await wiretape(['inspect', '--check', copy])).stdout).toMatch(/no faults\n$/)
}

/** The mock over HTTP, with the server as its fallback. */
function copying(what: 'all' | 'new', out: string) {
  const errorOutput = new PassThrough().resume()
  return mock(recorded, { fallback: everythingOnStdio, record: { what, out }, errorOutput })
}

const opening = ['initialize', 'notifications/initialized']

describe('the copy that a mock with a fallback makes', () => {
  it.each([
    ['all', [...opening, 'one', 'two', 'new', 'three', 'newer']],
    ['new', [...opening, 'one', 'two', 'new', 'three', 'newer']],
  ] as const)('of a client on stdio replays (--record %s)', async (what, expected) => {
    const copy = stage.path(`stdio-${what}.jsonl`)
    const options = ['--fallback', '--record', what, '--out', copy, '--', ...everythingOnStdio]
    await talk(
      new StdioClientTransport(startOf([process.execPath, cli, 'mock', recorded, ...options])),
      'two',
      'new',
      'three',
      'newer',
    )
    // The mock writes the copy when its client has disconnected; the client does not wait for that.
    await expect
      .poll(() => readFileSync(copy, 'utf8').includes('"type":"end"'), { timeout: 30_000 })
      .toBe(true)
    expect(await asked(copy)).toEqual(expected)
    await expectReplays(copy)
  })

  it('of clients over HTTP replays, each of them with its own talk', async () => {
    const copy = stage.path('http-all.jsonl')
    const served = await copying('all', copy)
    for (const messages of [
      ['three', 'new', 'one'],
      ['one', 'newer'],
    ])
      await talk(new StreamableHTTPClientTransport(new URL(served.url)), ...messages)
    await served.close()
    expect(await asked(copy)).toEqual([...opening, 'one', 'two', 'three', 'new', ...opening, 'one', 'newer'])
    await expectReplays(copy)
  })

  it('of clients over HTTP that came at once replays, whatever overlapped (--record new)', async () => {
    const copy = stage.path('http-new.jsonl')
    const served = await copying('new', copy)
    const at = (): Transport => new StreamableHTTPClientTransport(new URL(served.url))
    await Promise.all([
      talk(at(), 'one', 'new', 'newer'),
      talk(at(), 'two', 'other', 'one'),
      talk(at(), 'last'),
    ])
    await talk(at(), 'three')
    await served.close()
    const talks = new Map<string | undefined, string[]>()
    for await (const { request, answer } of (await readRecording(copy)).exchanges()) {
      const { conversation, method, text } = request
      expect(answer).toBeDefined()
      const said = /"message":"([^"]*)"/.exec(text)?.[1] ?? method!
      talks.set(conversation, [...(talks.get(conversation) ?? []), said])
    }
    const [first, ...others] = talks.values()
    // Which client first sent an unrecorded request is random; the others have conversations of their own.
    const own = [['new', 'newer'], ['other'], ['last']]
    const kept = own.find(([begin]) => first!.includes(begin!))!
    expect(first!.filter((said) => !['initialize', 'one', 'two', 'three'].includes(said))).toEqual(kept)
    expect(new Set(others.map((said) => said.join()))).toEqual(
      new Set(own.filter((said) => said !== kept).map((said) => ['initialize', ...said].join())),
    )
    await expectReplays(copy)
    const overlapping = await wiretape([
      'replay',
      copy,
      '--concurrency',
      'recorded',
      '--timeout',
      '4s',
      '--',
      ...everythingOnStdio,
    ])
    expect(overlapping).toMatchObject({ code: 0 })
  })

  it.each(['all', 'new'])('is complete when a signal ends the mock (--record %s)', async (what) => {
    const copy = stage.path(`signal-${what}.jsonl`)
    const options = [
      '--listen',
      '0',
      '--fallback',
      '--record',
      what,
      '--out',
      copy,
      '--',
      ...everythingOnStdio,
    ]
    const actor = stage.start([process.execPath, cli, 'mock', recorded, ...options], { detached: true })
    await printed(actor, '\n')
    const served = new URL(actor.stdout().toString().trim())
    await talk(new StreamableHTTPClientTransport(served), 'two', 'new')
    actor.child.kill('SIGINT')
    expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
    expect(await asked(copy)).toEqual([...opening, 'one', 'two', 'new', 'three'])
    expect(readFileSync(copy, 'utf8')).not.toContain('"recovered"')
  })

  it('has times that never go back', async () => {
    const recording = await readRecording(stage.path('stdio-new.jsonl'))
    const all: RecordedMessage[] = []
    for await (const message of recording.messages()) all.push(message)
    const times = all.map(({ us }) => us)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => i))
  })
})
