import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtures, plainEnv, wiretape, type Run } from './run-cli.js'
import { runProgram } from '../../src/cli/program.js'
import { useStage } from './stage.js'

const stage = useStage()

const tape = join(fixtures, 'every-kind.jsonl')
const run = (...args: string[]): Promise<Run> =>
  wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env) })

/** Output of a command, run in this process because that is quicker. */
async function print(args: readonly string[]): Promise<string> {
  let printed = ''
  const code = await runProgram(args, {
    cwd: stage.folder,
    dataFolder: stage.folder,
    columns: undefined,
    colours: false,
    write: (text) => {
      printed += text
      return Promise.resolve(true)
    },
    writeBytes: () => Promise.resolve(true),
    page: () => undefined,
    flush: () => Promise.resolve(true),
    complain: () => Promise.resolve(),
    close: () => Promise.resolve(undefined),
  })
  expect(code).toBe(0)
  return printed
}

/** Numbers of the listed messages; `-` for other rows. */
async function listed(filter: string, ...files: string[]): Promise<string[]> {
  const stdout = await print(['inspect', '--filter', filter, ...(files.length > 0 ? files : [tape])])
  const lines = stdout.split('\n')
  const first = lines.findIndex((line) => /^ {2}#/.test(line)) + 1
  const rows = lines.slice(first, lines.indexOf('', first))
  return rows.map((row) => /^ *(\d+) {2,}\d+\.\d/.exec(row)?.[1] ?? '-')
}

describe('inspect --filter', () => {
  it.each<[string, string]>([
    ['method:tools/call', '3 7 8 9 10 14'],
    ['tool:sum is:request', '3'],
    ['tool:sum -is:late', '3 7'],
    ['> -is:request', '2 6 15 21'],
    ['status:error', '9 10 11 12'],
    ['status:unanswered', '13 23'],
    ['code:-32002', '12'],
    ['latency:>1s', '3 7 8'],
    ['id:5', '17 18'],
    [`id:'"a-long-string-id"'`, '9 10'],
    ['is:noise or is:stderr or is:gap', '- - - -'],
    ['is:batch', '20 21'],
    ['is:undelivered', '23'],
    ['path:$.params.arguments.a', '3'],
    ['$.params.arguments.b=2', '3'],
    ['12345678901234567890', '3'],
    ['"listening on"', '-'],
    ['seq:3..5', '3 4 5'],
    ['since:2026-03-01T10:00:01.38', '20 21 22 23'],
    ['since:11ms', '20 21 22 23'],
    ['size:>140 <', ''],
    ['', '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 - 19 - - 20 21 22 23'],
  ])('%s', async (filter, expected) => {
    expect((await listed(filter)).join(' ')).toBe(expected)
  })

  it('prints the filter as understood, the number of matches, and the number of the response to a request', async () => {
    const { stdout } = await run('inspect', '--filter', 'tool:sum -is:answer', tape)
    expect(stdout).toContain('→ tools/call sum  a: 12345678901234567890, b: 1.0, b: 2e0 · answered in #7\n')
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 of 28 rows: tool is sum and not a result or an error')
  })

  it('gives the same rows as JSON', async () => {
    const { stdout } = await run('inspect', '--json', '--filter', 'tool:sum', tape)
    const { filter, messages } = JSON.parse(stdout) as { filter: string; messages: { sequence: number }[] }
    expect(filter).toBe('tool:sum')
    expect(messages.map(({ sequence }) => sequence)).toEqual([3, 7, 8])
  })

  it.each([
    ['tol:x', '--filter, column 1: unknown key tol: did you mean tool?'],
    ['a (b', '--filter, column 3: this ( is not closed: expected )'],
    [
      'text:~/a(/',
      '--filter, column 10: the pattern is not a regular expression: missing closing ): use RE2 syntax, without lookaround and backreferences',
    ],
  ])('refuses %s with its column', async (filter, message) => {
    for (const args of [
      ['inspect', '--filter', filter, 'no-such-file'],
      ['convert', '--filter', filter, tape, 'x.jsonl'],
    ])
      expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: `wiretape: ${message}\n` })
  })

  it('is refused together with --check, which checks whole recordings', async () => {
    expect(await run('inspect', '--check', '--filter', 'x', tape)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'wiretape: --check needs whole recordings (leave out --filter)\n',
    })
  })
})

describe('convert --filter', () => {
  it('takes whole exchanges, every line as it was, and keeps their numbers', async () => {
    const result = await run('convert', '--filter', 'path:$.result.n', tape, 'part.jsonl')
    expect(result).toEqual({ code: 0, stdout: 'part.jsonl: 3 messages, trace-v1\n', stderr: '' })
    await print(['convert', tape, 'whole.jsonl'])
    const whole = readFileSync(stage.path('whole.jsonl'), 'utf8').split('\n')
    const lines = readFileSync(stage.path('part.jsonl'), 'utf8').trimEnd().split('\n')
    const [meta, ...others] = lines
    const end = others.pop()
    expect(JSON.parse(meta!)).toMatchObject({ wiretape: { metadata: { filter: 'path:$.result.n' } } })
    expect(JSON.parse(end!)).toMatchObject({ type: 'end', wiretape: { messages: 3 } })
    expect(whole).toEqual(expect.arrayContaining(others))
    expect(await listed('is:request or is:answer', 'part.jsonl')).toEqual(['3', '7', '8'])
    expect(await listed('is:gap', 'part.jsonl')).toEqual(['-', '-'])
  })

  it('keeps the elements of a batch together, and their responses', async () => {
    await print(['convert', '--filter', 'method:notifications/roots/list_changed', tape, 'part.jsonl'])
    expect(await listed('-is:gap', 'part.jsonl')).toEqual(['20', '21', '22'])
  })

  it('keeps notes about the kept messages, and no others', async () => {
    await print(['convert', '--filter', 'method:logging/setLevel', tape, 'with.jsonl'])
    expect(readFileSync(stage.path('with.jsonl'), 'utf8')).toContain('"undelivered"')
    await print(['convert', '--filter', 'method:initialize', tape, 'without.jsonl'])
    expect(readFileSync(stage.path('without.jsonl'), 'utf8')).not.toContain('"undelivered"')
  })

  it('keeps the numbers of a tape that has none of its own', async () => {
    const [meta, call, answer] = readFileSync(join(fixtures, 'plain-v1.jsonl'), 'utf8').split('\n')
    const ping = call!.replace(/"raw":.*/, '"raw":{"jsonrpc":"2.0","id":5,"method":"ping"}}')
    writeFileSync(stage.path('plain.jsonl'), `${[meta, ping, call, answer].join('\n')}\n`)
    await print(['convert', '--filter', 'tool:*', 'plain.jsonl', 'part.jsonl'])
    expect(await listed('', 'part.jsonl')).toEqual(['1', '2'])
    expect(await print(['inspect', '--json', 'part.jsonl'])).toContain('"request":{"sequence":1,')
  })

  it('keeps a held message together with its outcome', async () => {
    const at = (ms: number): string => `"t":"2026-03-01T10:00:00.00${ms}Z"`
    const call = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t${id}"}}`
    const lines = [
      readFileSync(tape, 'utf8').split('\n')[0]!,
      `{"type":"held",${at(1)},"dir":"in","raw":${call(1)},"id":"id-1","seq":0,"us":1000}`,
      `{"type":"held",${at(2)},"dir":"in","raw":${call(2)},"id":"id-2","seq":1,"us":2000,"rule":"no"}`,
      `{${at(3)},"dir":"in","raw":${call(3)},"id":"id-3","seq":2,"us":3000}`,
      `{"type":"dropped",${at(4)},"us":4000,"id":"id-2","why":"so","rule":"no"}`,
      `{${at(1)},"dir":"in","raw":${call(9)},"id":"id-1","seq":0,"us":1000,"modified":true,"original":${call(1)},"heldMs":4,"rule":"r, s"}`,
    ]
    writeFileSync(stage.path('held.jsonl'), `${lines.join('\n')}\n`)
    expect(await listed('tool:t9', 'held.jsonl')).toEqual(['0'])
    expect(await listed('is:modified is:held', 'held.jsonl')).toEqual(['0'])
    expect(await listed('is:dropped', 'held.jsonl')).toEqual(['1'])
    expect(await listed('rule:s or rule:no', 'held.jsonl')).toEqual(['1', '0'])
    await print(['convert', '--filter', 'rule:no', 'held.jsonl', 'dropped.jsonl'])
    expect(readFileSync(stage.path('dropped.jsonl'), 'utf8').trimEnd().split('\n').slice(1)).toEqual([
      lines[2],
      lines[4],
    ])
    await print(['convert', '--filter', 'tool:t9', 'held.jsonl', 'edited.jsonl'])
    expect(readFileSync(stage.path('edited.jsonl'), 'utf8').trimEnd().split('\n').slice(1)).toEqual([
      lines[1],
      lines[5],
    ])
  })
})
