import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { call, createReplayStage, opening, type Client, type ReplayStage } from './replay-stage.js'
import type { Run } from './run-cli.js'
import { server } from './stage.js'

const user: Client = { messages: [...opening, call(1, 'price'), call(2, 'status'), call(3, 'status')] }

describe('wiretape replay --learn', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    await stage.record('a.jsonl', user, server('varying-mcp.mjs'))
  })
  afterAll(() => stage.close())
  const replay = (command: readonly string[], ...options: string[]): Promise<Run> =>
    stage.run('replay', 'a.jsonl', ...options, '--', ...command)
  const rules = (): unknown => parse(readFileSync(stage.path('a.compare.yaml'), 'utf8'))

  it('writes values that vary between runs into the compare file, and keeps its content', async () => {
    writeFileSync(stage.path('a.compare.yaml'), '# mine\nignore: ["$.result._meta"]\n')
    const { code, stdout } = await replay(server('varying-mcp.mjs'), '--learn', '3')
    expect(stdout).toContain('Varies between runs\n')
    expect(stdout).toContain('Nothing else differs\n')
    expect(code).toBe(0)
    expect(readFileSync(stage.path('a.compare.yaml'), 'utf8')).toMatch(/^# mine\n/)
    expect(rules()).toEqual({
      ignore: ['$.result._meta'],
      calls: [
        {
          method: 'tools/call',
          name: 'status',
          match: {
            '$.result.content[0].text.at': 'timestamp',
            '$.result.content[0].text.requests': 'number',
          },
        },
      ],
    })
    expect(await replay(server('varying-mcp.mjs'))).toMatchObject({ code: 0 })
  })

  it('separates values that vary between runs from changes in reports', async () => {
    writeFileSync(stage.path('none.yaml'), '')
    const reports = ['markdown=r.md', 'junit=r.xml', 'json=r.json'].flatMap((report) => ['--report', report])
    const learn = ['--learn', '2', '--compare-file', 'none.yaml', ...reports]
    expect(await replay(server('varying-mcp.mjs'), ...learn)).toMatchObject({ code: 0 })
    const read = (name: string): string => readFileSync(stage.path(name), 'utf8')
    expect(read('r.md')).toContain('**Same**')
    expect(read('r.md')).toMatch(
      /## Varies between runs[^]*tools\/call status.*learned: result\.content\[0\]\.text\.at/,
    )
    expect(read('r.xml')).toContain('failures="0"')
    expect(read('r.xml')).toContain('<system-out>varies between runs: learned: result.content[0].text.at')
    expect(JSON.parse(read('r.json'))).toMatchObject({ counts: { changed: 0 }, varied: { learned: 8 } })
    writeFileSync(stage.path('none.yaml'), '')
    expect(await replay(server('varying-mcp.mjs', '5'), ...learn)).toMatchObject({ code: 1 })
    expect(read('r.md')).toMatch(/\*\*Different\*\*.*2 changed[^]*4\.5 → 5[^]*## Varies between runs/)
    expect(read('r.xml')).toContain('failures="2"')
  })

  it('does not learn values that a person changed', async () => {
    const before = readFileSync(stage.path('a.compare.yaml'), 'utf8')
    const { code, stdout } = await replay(server('varying-mcp.mjs', '5'), '--learn', '2')
    expect(code).toBe(1)
    expect(stdout).toContain('Changed\n  changed    tools/call price')
    expect(stdout).toContain('~ result.content[0].text.price 4.5 → 5')
    expect(stdout).not.toContain('Varies')
    expect(readFileSync(stage.path('a.compare.yaml'), 'utf8')).toBe(before)
  })

  it('refuses contradictory options', async () => {
    for (const [options, why] of [
      [['--learn', '1'], 'Use 2 or more'],
      [['--learn', '2', '--update'], '--learn and --update cannot be combined'],
      [['--learn', '2', '--no-compare-file'], '--learn needs a compare file to write'],
    ] as const)
      expect(await replay(server('varying-mcp.mjs'), ...options)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      })
  })
})
