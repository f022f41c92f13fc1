import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { fixtures, leftOut, plainEnv, runOnTerminal, unstyled, wiretape } from '../behaviour/run-cli.js'
import { cli, useStage } from '../behaviour/stage.js'

const stage = useStage()

const fixture = (name: string): string => join(fixtures, name)
const hasScript = spawnSync('script', ['--version']).status === 0

const meta = (startedAt: string, label = 'server'): string =>
  JSON.stringify({ v: 1, type: 'meta', startedAt, label, command: ['node'], mcpTapVersion: 'x' })
const message = (t: string, raw: object, more: object = {}): string =>
  JSON.stringify({ t, dir: 'in', raw: { jsonrpc: '2.0', ...raw }, ...more })
const end = (t: string, durationMs: number): string =>
  JSON.stringify({ t, type: 'end', exitCode: 0, durationMs })

function put(name: string, lines: readonly string[]): string {
  writeFileSync(stage.path(name), `${lines.join('\n')}\n`)
  return stage.path(name)
}

async function shown(...args: string[]): Promise<string> {
  const { stdout, code, stderr } = await wiretape(['inspect', ...args], { env: plainEnv(stage.env) })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe.skipIf(leftOut(hasScript, 'no `script` command'))('inspect on a narrow terminal', () => {
  it.each([20, 30])('of %d columns prints no line that is longer', async (columns) => {
    const start = '2026-08-01T10:00:00.000Z'
    const labelled = put('labelled.jsonl', [
      meta(start, 'a label that takes more than the columns'),
      message(start, { id: 1, method: 'ping' }),
    ])
    for (const args of [
      [fixture('every-kind.jsonl')],
      [fixture('every-kind.jsonl'), fixture('another.jsonl'), labelled],
      [fixture('hostile.jsonl')],
      ['--check', fixture('every-kind.jsonl')],
      ['--check', fixture('rotated.2.jsonl')],
    ]) {
      const { stdout } = await runOnTerminal([process.execPath, cli, 'inspect', ...args], columns, {
        env: stage.env,
      })
      const lines = unstyled(stdout).split('\n')
      expect(lines.length).toBeGreaterThan(2)
      expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([])
    }
  })
})

describe('inspect', () => {
  it.each([-1, -1e300, 1e300, 1e18])('says of a duration of %d ms that it is unknown', async (ms) => {
    const start = '2026-08-01T10:00:00.000Z'
    const tape = put('odd.jsonl', [meta(start), message(start, { id: 1, method: 'ping' }), end(start, ms)])
    expect(await shown(tape)).toContain(' · duration unknown · exit 0\n')
    const { stdout } = await wiretape(['ls', stage.folder], { env: plainEnv(stage.env) })
    expect(stdout).toMatch(/ {2}unknown {2}.*odd\.jsonl$/m)
  })

  it('takes the time of day where no clock can have measured what the tape says, and shows all others beside it', async () => {
    const start = '2026-08-01T10:00:00.000Z'
    const tape = put('odd.jsonl', [
      meta(start),
      message(start, { method: 'a' }, { us: 1_234_567 }),
      message(start, { method: 'b' }, { us: 1e300 }),
      message(start, { method: 'c' }, { us: -5_000_000 }),
    ])
    const rows = (await shown(tape)).split('\n').filter((line) => line.includes('→'))
    expect(rows.map((row) => row.trim().split(/\s+/)[1])).toEqual(['1.235', '0.000', '-5.000'])
  })

  it('cuts no time where one file holds several sessions', async () => {
    const [monday, friday] = ['2026-08-03T10:00:00.000Z', '2026-08-07T10:00:00.000Z']
    const session = (start: string): string[] => [
      meta(start),
      message(start, { method: 'x' }, { us: 1_000 }),
      end(start, 1),
    ]
    for (const [name, order] of [
      ['forward', [monday, friday]],
      ['backward', [friday, monday]],
    ] as const) {
      const text = await shown(put(`${name}.jsonl`, order.flatMap(session)))
      expect(text).not.toContain('…')
      for (const time of ['0.001', '345600.001'])
        expect(text).toMatch(new RegExp(String.raw`^ *\d+ +${time} .*→ x$`, 'm'))
    }
  })

  it('prints a large message of many small parts without many times its size in memory', async () => {
    const start = '2026-08-01T10:00:00.000Z'
    const items = Array.from({ length: 1_000_000 }, (_, i) => `{"a":${i % 10}}`).join(',')
    const tape = put('large.jsonl', [
      meta(start),
      `{"t":"${start}","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{"items":[${items}]}}}`,
    ])
    const shell = `"$0" --max-old-space-size=192 "$1" inspect -v "$2" | tail -c 1000`
    const { stdout, stderr } = spawnSync('sh', ['-c', shell, process.execPath, cli, tape], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/"a": 9\n {12}\}\n {10}\]\n {8}\}\n {6}\}\n\n1 message · /)
  })
})
