/** A file of rules beside a recording decides what counts as a difference: it is named, and must belong to the user. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { leftOut, wiretapeIn } from '../behaviour/run-cli.js'
import { server, useStage } from '../behaviour/stage.js'
import { hasStranger, strangerUid } from './users.js'

const stage = useStage()
beforeEach(() => {
  writeFileSync(stage.path('a.jsonl'), tapeOf('{"content":[],"price":1,"stock":1}'))
  writeFileSync(stage.path('b.jsonl'), tapeOf('{"content":[],"price":2,"stock":9}'))
})

const cli = wiretapeIn(stage)
const plant = (name = 'a.compare.yaml'): void =>
  writeFileSync(stage.path(name), 'ignore: [$.result]\n', { mode: 0o644 })
const named = 'the rules of a.compare.yaml hid 2 differences'

it('a planted file is named in what is printed and in every report, with the differences that it hid', async () => {
  expect(await cli('diff', 'a.jsonl', 'b.jsonl')).toMatchObject({ code: 1 })
  plant()
  const kinds = ['json', 'junit', 'markdown', 'github']
  const reports = kinds.flatMap((kind) => ['--report', `${kind}=r.${kind}`])
  const { code, stdout } = await cli('diff', 'a.jsonl', 'b.jsonl', ...reports)
  expect(code).toBe(0)
  expect(stdout).toContain(`Note: ${named}; --no-compare-file compares without them`)
  for (const kind of kinds)
    expect([kind, readFileSync(stage.path(`r.${kind}`), 'utf8')]).toEqual([
      kind,
      expect.stringMatching(/hid 2 differences/),
    ])
  expect(JSON.parse((await cli('diff', '--json', 'a.jsonl', 'b.jsonl')).stdout)).toMatchObject({
    same: true,
    compareFile: { name: 'a.compare.yaml', hidden: 2 },
  })
})

it('a file that hides nothing is named as well, and one that was named by its user', async () => {
  writeFileSync(stage.path('own.yaml'), 'match:\n  $.result.price: number\n')
  expect((await cli('diff', 'a.jsonl', 'b.jsonl', '--compare-file', 'own.yaml')).stdout).toContain(
    'the rules of own.yaml hid 1 difference;',
  )
  writeFileSync(stage.path('a.compare.yaml'), 'ignore: [$.result.nothing]\n')
  expect((await cli('diff', 'a.jsonl', 'b.jsonl')).stdout).toContain('hid no difference')
})

it('a level in the file counts as what it hides', async () => {
  writeFileSync(stage.path('a.compare.yaml'), 'level: schema\n')
  expect((await cli('diff', 'a.jsonl', 'b.jsonl')).stdout).toContain(named)
})

it('--no-compare-file compares without it', async () => {
  plant()
  const { code, stdout } = await cli('diff', 'a.jsonl', 'b.jsonl', '--no-compare-file')
  expect(code).toBe(1)
  expect(stdout).not.toContain('compare.yaml')
})

it('a replay names it too, and does without it', async () => {
  const { code, stdout } = await cli('record', '--out', 'tapes', '--', ...server('mini-mcp.mjs'))
  expect([code, stdout]).toEqual([0, ''])
  plant()
  const replayed = await cli('replay', 'a.jsonl', '--no-handshake', '--', ...server('mini-mcp.mjs'))
  expect(replayed.stdout).toMatch(/the rules of a\.compare\.yaml hid \d+ differences?/)
  const without = await cli(
    'replay',
    'a.jsonl',
    '--no-handshake',
    '--no-compare-file',
    '--',
    ...server('mini-mcp.mjs'),
  )
  expect(without.stdout).not.toContain('compare.yaml')
  expect(without.code).toBe(1)
})

it('a pipe in its place ends in one line', async () => {
  expect(spawnSync('mkfifo', [stage.path('a.compare.yaml')]).status).toBe(0)
  expect(await cli('diff', 'a.jsonl', 'b.jsonl')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/a\.compare\.yaml is not used: it is not a file/) as string,
  })
})

describe.skipIf(leftOut(process.platform !== 'win32', 'rights of files need a POSIX system'))(
  'a file that others can write',
  () => {
    it('is refused', async () => {
      plant()
      chmodSync(stage.path('a.compare.yaml'), 0o646)
      const { code, stderr } = await cli('diff', 'a.jsonl', 'b.jsonl')
      expect(code).toBe(2)
      expect(stderr).toMatch(/a\.compare\.yaml is not used: every user can write to it/)
      expect(stderr).toContain('--no-compare-file')
      expect(await cli('diff', 'a.jsonl', 'b.jsonl', '--compare-file', 'a.compare.yaml')).toMatchObject({
        code: 0,
      })
    })

    it.skipIf(!hasStranger)(
      'is refused when it is theirs, but not when the recording is theirs too',
      async () => {
        plant()
        chownSync(stage.path('a.compare.yaml'), strangerUid, strangerUid)
        expect(await cli('diff', 'a.jsonl', 'b.jsonl')).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(`it belongs to another user (uid ${strangerUid})`) as string,
        })
        chownSync(stage.path('a.jsonl'), strangerUid, strangerUid)
        expect((await cli('diff', 'a.jsonl', 'b.jsonl')).stdout).toContain(named)
      },
    )
  },
)

function tapeOf(result: string): string {
  return [
    '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"t","command":["x"],"mcpTapVersion":"0"}',
    '{"t":"2026-01-01T00:00:00.001Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"p"}}}',
    `{"t":"2026-01-01T00:00:00.002Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":${result}}}`,
    '{"t":"2026-01-01T00:00:00.003Z","type":"end","exitCode":0,"durationMs":3}',
    '',
  ].join('\n')
}
