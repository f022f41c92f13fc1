import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, called, listed, opened, tapeOf, type Line } from '../findings/stage.js'
import { expectSchema } from './data-folder.js'
import { wiretape, type Run } from './run-cli.js'

const schema = { type: 'object', properties: { n: { type: 'number' } } }
const tool = { name: 'add', description: 'Adds two numbers.', outputSchema: schema }
const result = (n: unknown): object => ({ content: [], structuredContent: { n } })

describe('findings in the list of messages', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-found-'))
    const call = called('add', {}, result(1))
    const bad = called('add', { path: '../../etc/passwd' }, result('<b>'))
    writeFileSync(join(folder, 'good.jsonl'), tapeOf([...opened(), ...listed(tool), ...call], named('good')))
    writeFileSync(
      join(folder, 'bad.jsonl'),
      tapeOf([...opened(), ...listed(tool), ...call, ...bad], named('bad')),
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const named = (session: string): Line => ({ wiretape: { session } })
  const run = (...args: string[]): Promise<Run> => wiretape(args, { cwd: folder })
  const lines = async (...args: string[]): Promise<string[]> => (await run(...args)).stdout.split('\n')
  const marked = async (...args: string[]): Promise<string[]> =>
    (await lines(...args)).filter((line) => line.includes(' · ! ')).map((line) => line.trim())
  const numbers = async (...args: string[]): Promise<(number | null)[]> => {
    const { stdout } = await run('inspect', '--json', ...args)
    return (JSON.parse(stdout) as { messages: { sequence: number | null }[] }).messages.map(
      ({ sequence }) => sequence,
    )
  }

  it('mark their rows, are counted below, and are omitted with --no-findings', async () => {
    expect(await marked('inspect', 'bad.jsonl')).toEqual([
      expect.stringMatching(/^8 .* result of #7 tools\/call add.* · ! schemas\/output/),
    ])
    expect(await lines('inspect', 'bad.jsonl')).toContain(
      '! findings: 1 error, 1 note (list them with wiretape check)',
    )
    expect((await run('inspect', '--no-findings', 'bad.jsonl')).stdout).not.toContain('! ')
    expect((await run('inspect', 'good.jsonl')).stdout).not.toContain('! ')
  })

  it('of every level are marked with --findings, and are then in --json', async () => {
    expect(await marked('inspect', '--findings', 'bad.jsonl')).toEqual([
      expect.stringMatching(/^7 .* · ! safety\/argument$/),
      expect.stringMatching(/^8 .* · ! schemas\/output/),
    ])
    const { stdout } = await run('inspect', '--json', '--findings', 'bad.jsonl')
    const told = JSON.parse(stdout) as { messages: object[] }
    expectSchema('inspect', told)
    expect(told.messages[8]).toMatchObject({
      findings: expect.arrayContaining([
        { rule: 'schemas/output', level: 'error', message: expect.any(String), at: expect.any(String) },
      ]),
    })
    expect(told.messages[0]).toMatchObject({ findings: [] })
  })

  it('are selected by a filter: a rule, a pack, anything, a level', async () => {
    for (const [filter, wanted] of [
      ['finding:schemas/output', [8]],
      ['finding:schemas level:error', [8]],
      ['finding:safety/*', [7]],
      ['finding:*', [7, 8]],
      ['finding~output', [8]],
      ['level:note -finding:schemas/output', [7]],
      ['level:warning', []],
      ['-finding:* tool:add', [5, 6]],
    ] as const)
      expect([filter, await numbers('--filter', filter, 'bad.jsonl')]).toEqual([filter, wanted])
    const { stdout } = await run('inspect', '--filter', 'level:error', 'bad.jsonl')
    expect(stdout).toContain('! schemas/output')
    expect(stdout).toContain('1 of 9 rows: has a finding of level error')
  })

  it('choose what convert keeps, what codegen tests and what search prints', async () => {
    await run('convert', '--filter', 'finding:schemas', 'bad.jsonl', 'out.jsonl')
    expect(await numbers('out.jsonl')).toEqual([7, 8])
    const { stdout } = await run('codegen', '--filter', 'finding:schemas', 'bad.jsonl', '--to', 'vitest')
    expect(stdout.match(/callTool/g)).toHaveLength(1)
    const found = await run('search', 'finding:schemas/output', '--in', '.', '--jsonl')
    expect(found.stdout.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(found.stdout)).toMatchObject({ sequence: 8 })
  })

  it('are refused in a filter with an unknown name, and in a file of rules', async () => {
    expect(await run('inspect', '--filter', 'finding:schemas/outputs', 'bad.jsonl')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'wiretape: --filter: unknown rule or pack "schemas/outputs" (did you mean schemas/output?) (list the rules with wiretape check --list-rules)\n',
    })
    writeFileSync(
      join(folder, 'rules.yaml'),
      'rules:\n  - { name: a, when: "is:request finding:safety", drop: true }\n',
    )
    const refused = await run('rules', 'check', 'rules.yaml')
    expect(refused.code).toBe(1)
    expect(refused.stdout + refused.stderr).toContain('finding: and level: need a whole recording')
  })

  it('show the rule of `check` beside the same fault of inspect --check', async () => {
    writeFileSync(join(folder, 'open.jsonl'), tapeOf([...opened(), ...ask('tools/list')], named('open')))
    const text = await run('inspect', '--check', 'open.jsonl')
    expect(text).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^ {2}unanswered {2}1 request has no response \(#3\) \[protocol\/unanswered]$/m,
      ),
    })
    const { stdout } = await run('inspect', '--check', '--json', 'open.jsonl')
    const told = JSON.parse(stdout) as object
    expectSchema('inspect', told)
    expect(told).toMatchObject({
      recordings: [{ faults: [{ code: 'unanswered', rule: 'protocol/unanswered', messages: [3] }] }],
    })
    expect((await run('check', 'open.jsonl')).stdout).toContain('protocol/unanswered  #3')
  })
})
