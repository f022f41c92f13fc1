import { readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { wiretapeIn } from './run-cli.js'
import { printed, server, useStage } from './stage.js'

const tight = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1.0,"big":12345678901234567890,"e":[]}}'
const wide = '{"jsonrpc":"2.0", "id":2,"method":"ping"}'
const indented = `"payload": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "ping",
        "params": {
          "n": 1.0,
          "big": 12345678901234567890,
          "e": []
        }
      }
`

const stage = useStage()
let tape: string
beforeEach(() => {
  tape = stage.path('tape.jsonl')
  const line = (raw: string): string => `{"t":"2026-08-01T10:00:00.001Z","dir":"in","raw":${raw}}\n`
  const head = '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":["x"]}\n'
  writeFileSync(tape, `${head}${line(tight)}${line(wide)}`)
})

const cli = wiretapeIn(stage)
const read = (name: string): string => readFileSync(stage.path(name), 'utf8')

describe('payloads in session files', () => {
  it('are indented by convert where that loses nothing, and convert back unchanged', async () => {
    expect(await cli('convert', 'tape.jsonl', 's.json')).toMatchObject({ code: 0 })
    expect(read('s.json')).toContain(indented)
    expect(read('s.json')).toContain(`"payload": ${wide}\n`)
    expect(await cli('convert', 's.json', 'again.jsonl')).toMatchObject({ code: 0 })
    expect(read('again.jsonl')).toContain(`"raw":${tight}`)
    expect(read('again.jsonl')).toContain(`"raw":${wide}`)
  })

  it.each([
    ['convert', ['convert', '--compact', 'tape.jsonl', 's.json']],
    ['proxy export', ['proxy', 'export', '--session-file', 'tape.jsonl', '--output', 's.json', '--compact']],
    ['recover', ['recover', 'tape.jsonl', '--session-file', 's.json', '--compact']],
  ])('stand on one line with --compact of %s', async (_name, args) => {
    expect(await cli(...args)).toMatchObject({ code: 0 })
    expect(read('s.json')).toContain(`"payload": ${tight}\n`)
    const without = args
      .filter((word) => word !== '--compact')
      .map((word) => (word === 's.json' ? 't.json' : word))
    expect(await cli(...without)).toMatchObject({ code: 0 })
    expect(read('t.json')).toContain(indented)
  })

  it.each([
    [[], indented],
    [['--compact'], `"payload": ${tight}\n`],
  ])('are written by a recorder with the options %j', async (options, expected) => {
    const recorder = stage.start(
      stage.record(server('echo-lines.mjs'), ['--session-file', 's.json', ...options]),
      { detached: true },
    )
    await recorder.send(`${tight}\n`)
    await printed(recorder, tight)
    recorder.stdin.end()
    await recorder.ended
    expect(read('s.json')).toContain(expected)
  })

  it.each([
    [['convert', '--compact', 'tape.jsonl', 'x.har'], '--compact works only with session-json, not with har'],
    [
      [
        'proxy',
        'export',
        '--session-file',
        'tape.jsonl',
        '--output',
        'x',
        '--output-format',
        'har',
        '--compact',
      ],
      '--compact works only with session-json, not with har',
    ],
    [['recover', 'tape.jsonl', '--compact'], '--compact needs --session-file'],
  ])('have no --compact in other files: %j', async (args, line) => {
    expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: `wiretape: ${line}\n` })
  })
})
