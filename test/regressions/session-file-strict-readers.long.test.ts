import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { leftOut, wiretapeIn } from '../behaviour/run-cli.js'
import { printed, server, useStage } from '../behaviour/stage.js'
import { hasPython, strictReader } from '../behaviour/strict-json-reader.js'

const stage = useStage()
const cli = wiretapeIn(stage)

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const ping = (id: number, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"ping","params":${params}}`
const hard: readonly string[] = [
  ping(1, '{"text":"cut \\ud83d"}'),
  ping(2, '{"\\udc00":1}'),
  ping(3, `{"deep":${deep(187)}}`),
  ping(4, `{"deep":${deep(188)}}`),
  ping(5, `{"deep":${deep(400)}}`),
  `[${ping(6, '{"text":"\\ud83d"}')},${ping(7, '{}')}]`,
  '{"jsonrpc":"2.0","id":8,"method":"\\ud83d"}',
  ping(9, '{"pair":"\\ud83d\\ude00"}'),
  '"\\ud83d"',
]

describe.skipIf(leftOut(hasPython, 'no python3 to read session files'))('strict readers of JSON', () => {
  it('read a recorded session file with half characters and deep nesting, and it comes back as the tape', async () => {
    const recorder = stage.start(
      stage.record(server('echo-lines.mjs'), ['--session-file', stage.path('s.json')]),
    )
    await recorder.send(`${hard.join('\n')}\n`)
    await printed(recorder, hard.at(-1)!)
    recorder.stdin.end()
    expect((await recorder.ended).exitCode).toBe(0)
    expect(strictReader(stage.path('s.json'))).toBe('fine')
    expect(await cli('convert', 's.json', 'back.jsonl')).toMatchObject({ code: 0 })
    expect(readFileSync(stage.path('back.jsonl'), 'utf8')).toBe(readFileSync(stage.tape(), 'utf8'))
  })

  it('read what proxy export makes of files with half characters anywhere', async () => {
    const meta = {
      v: 1,
      type: 'meta',
      startedAt: '2026-01-01T00:00:00.000Z',
      label: '\ud83d',
      command: ['\ud83d'],
      more: '\ud83d',
      wiretape: {
        version: '1',
        session: 's\ud83d',
        transport: 'stdio',
        url: '\ud83d',
        segment: 0,
        redaction: 'none',
        metadata: { 'a\ud83d': 1, b: '\ud83d', c: 'fine', wiretape: '\ud83d' },
      },
    }
    const t = '2026-01-01T00:00:01.000Z'
    const lines = [
      meta,
      {
        t,
        dir: 'in',
        raw: { jsonrpc: '2.0', id: 1, method: 'ping' },
        id: '\ud83d',
        'x\ud83d': 1,
        session: { 'y\ud83d': 1, z: '\ud83d' },
      },
      { t, dir: 'out', raw: { jsonrpc: '2.0', id: 1, result: {} }, id: 'b', corr: '\ud83d' },
      { type: 'stderr', t, text: '\ud83d' },
      { t, type: 'end', exitCode: 0, durationMs: 1, more: '\ud83d' },
    ]
    writeFileSync(stage.path('tape.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const exported = await cli(
      'proxy',
      'export',
      '--session-file',
      'tape.jsonl',
      '--output',
      'e.json',
      '--note',
      'n',
    )
    expect(exported.code).toBe(0)
    expect(strictReader(stage.path('e.json'))).toBe('fine')
    expect(JSON.parse(readFileSync(stage.path('e.json'), 'utf8')).metadata).toMatchObject({
      c: 'fine',
      notes: 'n',
    })
    await cli('proxy', 'export', '--session-file', 'e.json', '--output', 'again.json')
    expect(strictReader(stage.path('again.json'))).toBe('fine')
  })

  it('read what proxy export makes of a foreign session file with half characters', async () => {
    const entry = {
      proxy_id: 'm1',
      sequence: 0,
      timestamp: '2026-03-04T10:00:01+00:00',
      direction: 'client_to_server',
      transport: 'stdio',
      jsonrpc_id: 1,
      method: 'p\ud83d',
      modified: true,
      payload: { jsonrpc: '2.0', id: 1, method: 'ping', params: { text: '\ud83d' } },
      original_payload: { jsonrpc: '2.0', id: 1, method: 'ping', params: { text: '\udc00' } },
      more: JSON.parse(deep(199)),
    }
    const file = {
      id: 's',
      started_at: '2026-03-04T10:00:00+00:00',
      ended_at: null,
      transport: 'stdio',
      server_command: 'x\ud83d',
      server_url: null,
      messages: [
        entry,
        { ...entry, proxy_id: 'm2', sequence: 1, payload: { jsonrpc: '2.0', id: 2, method: 'ping' } },
      ],
      metadata: { a: '\ud83d', b: JSON.parse(deep(199)) },
      more: '\ud83d',
    }
    writeFileSync(stage.path('f.json'), JSON.stringify(file))
    await cli('proxy', 'export', '--session-file', 'f.json', '--output', 'e.json')
    expect(strictReader(stage.path('e.json'))).toBe('fine')
    // Nothing is lost on the way.
    await cli('convert', 'f.json', 'a.jsonl')
    await cli('convert', 'e.json', 'b.jsonl')
    expect(readFileSync(stage.path('b.jsonl'), 'utf8')).toBe(readFileSync(stage.path('a.jsonl'), 'utf8'))
  })
})
