import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wiretape, type Run } from './run-cli.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-untimed-'))
  const lines = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n'
  writeFileSync(join(folder, 'untimed.jsonl'), lines)
  writeFileSync(
    join(folder, 'timed.jsonl'),
    lines.replace('{', '{"timestamp_ms":1785578400000,').replace('\n{', '\n{"timestamp_ms":1785578400007,'),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const run = (...args: string[]): Promise<Run> => wiretape(args, { cwd: folder })
const rowsOf = ({ stdout }: Run): string[] => stdout.split('\n').filter((line) => / [→←] /.test(line))

describe('a recording without times', () => {
  it.each(['trace-v1', 'session-json', 'har', 'jsonrpc'])(
    'shows none, and no latency, also after it was converted to %s',
    async (format) => {
      expect((await run('convert', 'untimed.jsonl', `as.${format}`, '--to', format)).code).toBe(0)
      const shown = await run('inspect', `as.${format}`)
      expect(rowsOf(shown)).toEqual(
        ['  0     –  1              40 B  → ping', '  1     –  1         –    36 B  ← result of #0 ping'].map(
          (line) => expect.stringMatching(new RegExp(`^${line.replaceAll(/ +/g, ' +')}$`)),
        ),
      )
      expect(shown.stdout).toContain('it says no times')
      expect(shown.stdout).not.toContain(' ms')
    },
  )

  it('fits no filter for times', async () => {
    for (const filter of ['latency:>=0ms', 'latency:<1h', 'since:2000-01-01', 'until:2100-01-01'])
      expect((await run('inspect', 'untimed.jsonl', '--filter', filter)).stdout).toContain('0 of 2 rows')
    const { stdout } = await run('inspect', 'untimed.jsonl', '--filter', '-latency:>1s')
    expect(stdout).toContain('2 of 2 rows')
  })

  it('has null for them in JSON', async () => {
    const { recordings, messages } = JSON.parse((await run('inspect', '--json', 'untimed.jsonl')).stdout)
    expect(recordings[0].sessions[0]).toMatchObject({ startedAt: null, endedAt: null })
    expect(messages[1]).toMatchObject({ timestamp: null, us: null, latencyUs: null })
  })

  it('leaves the times of another one that is shown with it as they are', async () => {
    const rows = rowsOf(await run('inspect', 'untimed.jsonl', 'timed.jsonl'))
    expect(rows).toHaveLength(4)
    expect(rows.filter((row) => / 0\.00[07] /.test(row))).toHaveLength(2)
    expect(rows.filter((row) => / – /.test(row))).toHaveLength(2)
  })
})
