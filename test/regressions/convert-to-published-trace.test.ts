import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'
import { readPublishedTrace } from '../formats/published-trace.js'

const stage = useStage()
const cli = wiretapeIn(stage)
const fixtures = join(import.meta.dirname, '../fixtures')
const read = (name: string): string => readFileSync(stage.path(name), 'utf8')

const times = { started_at: '2026-11-21T01:33:10.416879Z', ended_at: '2026-11-21T01:33:12.001122Z' }
const payload = { jsonrpc: '2.0', id: 1, method: 'ping' }
const sessionFile = (said: object): string =>
  `${JSON.stringify(
    {
      id: 'd5a9bb54-7b09-4d9d-8b1a-111111111111',
      ...times,
      transport: 'stdio',
      server_command: 'node server.mjs',
      server_url: null,
      messages: [
        {
          proxy_id: 'a',
          sequence: 0,
          timestamp: '2026-11-21T01:33:10.417251+00:00',
          direction: 'client_to_server',
          transport: 'stdio',
          jsonrpc_id: 1,
          method: 'ping',
          correlated_id: null,
          modified: false,
          payload,
          original_payload: null,
        },
      ],
      metadata: {},
      ...said,
    },
    undefined,
    2,
  )}\n`

const exchange = (origin: string, second: number, id: number): object => ({
  startedDateTime: `2026-01-01T00:00:0${second}.5Z`,
  time: 5.25,
  request: {
    method: 'POST',
    url: `${origin}/mcp`,
    headers: [],
    postData: { mimeType: 'application/json', text: JSON.stringify({ ...payload, id }) },
  },
  response: {
    status: 200,
    headers: [],
    content: { mimeType: 'application/json', text: JSON.stringify({ jsonrpc: '2.0', id, result: {} }) },
  },
  timings: { send: 0, wait: 5, receive: 0.25 },
})
const archive = (...entries: object[]): string => JSON.stringify({ log: { version: '1.2', entries } })

describe('convert to a tape from what others recorded', () => {
  it('a session file: the time between its first and last moment, in milliseconds', async () => {
    for (const [transport, exitCode] of [
      ['stdio', undefined],
      ['streamable-http', 0],
    ] as const) {
      writeFileSync(stage.path('s.json'), sessionFile({ transport }))
      expect(await cli('convert', '--force', 's.json', 'o.jsonl')).toMatchObject({ code: 0 })
      expect(readPublishedTrace(read('o.jsonl'), { exitCode: 'optional' })).toMatchObject({
        durationMs: 1585,
        exitCode,
      })
    }
  })

  it('a session file comes back from the tape byte for byte, microseconds and all', async () => {
    const name = join(fixtures, 'session-json/documented.json')
    const exact = (await cli('convert', '--to', 'session-json', name, '-')).stdout
      .replace('"2026-03-04T10:00:00+00:00"', '"2026-03-04T10:00:00.123456Z"')
      .replace('"2026-03-04T10:05:30+00:00"', '"2026-03-04T10:05:30.654321+00:00"')
    expect(exact).toContain('.123456Z')
    expect(exact).toContain('.654321+00:00')
    writeFileSync(stage.path('s.json'), exact)
    await cli('convert', 's.json', 'o.jsonl')
    readPublishedTrace(read('o.jsonl'), { exitCode: 'optional' })
    expect(await cli('convert', 'o.jsonl', 'again.json')).toMatchObject({ code: 0 })
    expect(read('again.json')).toBe(exact)
  })

  it('an archive, a transcript and messages alone', async () => {
    writeFileSync(stage.path('a.har'), archive(exchange('https://a.example', 0, 1)))
    writeFileSync(
      stage.path('m.jsonl'),
      `${JSON.stringify({ ...payload, timestamp_ms: 1_767_225_600_000 })}\n`,
    )
    const transcript = join(fixtures, 'http-transcript/http-sse.json')
    for (const [name, exitCode] of [
      ['a.har', 0],
      [transcript, 0],
      ['m.jsonl', undefined],
    ] as const) {
      expect(await cli('convert', '--force', name, 'o.jsonl')).toMatchObject({ code: 0 })
      const trace = readPublishedTrace(read('o.jsonl'), { exitCode: 'optional' })
      expect(trace).toMatchObject({ exitCode })
      expect(trace.messages).toBeGreaterThan(0)
    }
  })

  it('messages alone, without any time: inspect tells no duration', async () => {
    writeFileSync(stage.path('m.jsonl'), `${JSON.stringify(payload)}\n`)
    await cli('convert', 'm.jsonl', 'o.jsonl')
    expect(readPublishedTrace(read('o.jsonl'), { exitCode: 'optional' })).toMatchObject({ durationMs: 0 })
    const { stdout } = await cli('inspect', 'o.jsonl')
    expect(stdout).toContain('no times recorded\n')
  })

  it('tells two origins in one archive, and how to cut one out', async () => {
    const a = 'https://a.example'
    const entries = [exchange(a, 0, 1), exchange('https://b.example', 1, 1), exchange(a, 2, 2)]
    writeFileSync(stage.path('a.har'), archive(...entries))
    const run = await cli('convert', '--strict', 'a.har', 'o.jsonl')
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('2 servers in one file') })
    expect(run.stderr).toContain('https://a.example, https://b.example')
    const filter = /--filter '([^']+)'/.exec(run.stderr)![1]!
    const cut = await cli('convert', '--strict-v1', '--filter', filter, 'a.har', 'b.jsonl')
    expect(cut).toMatchObject({ code: 0, stdout: 'b.jsonl: 2 messages, trace-v1\n' })
    expect(readPublishedTrace(read('b.jsonl'), { exitCode: 'required' })).toMatchObject({ messages: 2 })
    expect(await cli('convert', '--strict-v1', 'a.har', 'c.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2 servers in one file'),
    })
  })

  it('tells that recordings of several servers were merged', async () => {
    const plain = join(fixtures, 'session-json/documented.json')
    writeFileSync(stage.path('s.json'), sessionFile({}))
    const run = await cli('convert', plain, 's.json', 'o.jsonl')
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('2 servers in one file') })
    readPublishedTrace(read('o.jsonl'), { exitCode: 'optional' })
  })
})
