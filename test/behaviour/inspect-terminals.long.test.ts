import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { afterAll, describe, expect, it } from 'vitest'
import { fixtures, leftOut, plainEnv, run, runOnTerminal, unstyled, wiretape } from './run-cli.js'
import { cli, createStage } from './stage.js'

const everyKind = 'every-kind.jsonl'
const hasScript = spawnSync('script', ['--version']).status === 0
const stage = createStage()
afterAll(() => stage.close())

describe('inspect prints', () => {
  it('the same from stdin where the temporary folder cannot be used', async () => {
    const input = readFileSync(join(fixtures, everyKind))
    for (const TMPDIR of ['/nonexistent', join(fixtures, everyKind)]) {
      const result = await wiretape(['inspect', '-'], { input, env: plainEnv({ TMPDIR }) })
      expect(result).toEqual(await wiretape(['inspect', everyKind]))
    }
  })

  it.each([
    ['spaces', '{ "v": 1, "type": "meta", "startedAt": "",'],
    ['another order', '{"label":"\\"x\\"","command":["a]","b"],"startedAt":"", "type":"meta",'],
  ])('a recording whose first line is very long and has %s', async (_, start) => {
    const input = `${start} "metadata": {"x":"${'x'.repeat(100_000)}"}, "v":1}\n`
    expect(await wiretape(['inspect', '-'], { input })).toMatchObject({ code: 0, stderr: '' })
  })

  it('recordings that stand one after the other in one file', async () => {
    const input = ['faultless.jsonl', 'another.jsonl'].map((name) =>
      readFileSync(join(fixtures, name), 'utf8'),
    )
    const { stdout, code } = await wiretape(['inspect', '--json', '-'], { input: input.join('') })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).recordings[0].sessions).toMatchObject([
      { label: 'faultless' },
      { label: '数据库' },
    ])
  })
})

describe('inspect colours', () => {
  const styled = /\u001b\[/

  it.skipIf(leftOut(hasScript, 'no `script` command'))(
    'on a terminal, unless NO_COLOR is set or it is dumb',
    async () => {
      const argv = [process.execPath, cli, 'inspect', everyKind]
      expect((await runOnTerminal(argv, 100)).stdout).toMatch(styled)
      expect((await runOnTerminal(argv, 100, { env: { NO_COLOR: '1' } })).stdout).not.toMatch(styled)
      expect((await runOnTerminal(argv, 100, { env: { TERM: 'dumb' } })).stdout).not.toMatch(styled)
    },
  )
})

describe.skipIf(leftOut(hasScript, 'no `script` command'))('inspect on a terminal', () => {
  it.each([40, 60, 80, 140])('of %d columns prints no line that is longer', async (columns) => {
    for (const args of [
      [everyKind],
      [everyKind, 'another.jsonl'],
      ['hostile.jsonl'],
      ['--check', everyKind],
    ]) {
      const { stdout } = await runOnTerminal([process.execPath, cli, 'inspect', ...args], columns)
      const lines = unstyled(stdout).split('\n')
      expect(lines.length).toBeGreaterThan(5)
      expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([])
    }
  })

  it('keeps the fault of a row when there is no room for its name', async () => {
    const { stdout } = await runOnTerminal([process.execPath, cli, 'inspect', everyKind], 80)
    expect(unstyled(stdout)).toMatch(/#9 tools\/call .*… · tool error$/m)
  })
})

describe('inspect', () => {
  it('ends quietly when its reader closes the pipe', async () => {
    const big = stage.path('big.jsonl')
    const [meta, ...rest] = readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8').trimEnd().split('\n')
    const line = rest[2]!
    writeFileSync(big, `${[meta, ...Array.from({ length: 50_000 }, () => line)].join('\n')}\n`)
    const shell = `set -o pipefail; ${process.execPath} ${cli} inspect ${big} | head -n 3`
    const result = await run(['bash', '-c', shell])
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout.split('\n')).toHaveLength(4)
  })
})
