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
    'shows no times and no latency, also after conversion to %s',
    async (format) => {
      expect((await run('convert', 'untimed.jsonl', `as.${format}`, '--to', format)).code).toBe(0)
      const shown = await run('inspect', `as.${format}`)
      expect(rowsOf(shown)).toEqual(
        ['  0     –  1              40 B  → ping', '  1     –  1         –    36 B  ← result of #0 ping'].map(
          (line) => expect.stringMatching(new RegExp(`^${line.replaceAll(/ +/g, ' +')}$`)),
        ),
      )
      expect(shown.stdout).toContain('no times recorded')
      expect(shown.stdout).not.toContain(' ms')
    },
  )

  it('matches no filter for times', async () => {
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

  it('does not change the times of another one that is shown with it', async () => {
    const rows = rowsOf(await run('inspect', 'untimed.jsonl', 'timed.jsonl'))
    expect(rows).toHaveLength(4)
    expect(rows.filter((row) => / 0\.00[07] /.test(row))).toHaveLength(2)
    expect(rows.filter((row) => / – /.test(row))).toHaveLength(2)
  })
})

describe('a recording in which only some messages have times', () => {
  const partly = [
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"timestamp_ms":1785578400000,"jsonrpc":"2.0","id":1,"result":{}}',
    '{"timestamp_ms":1785578400500,"jsonrpc":"2.0","id":2,"method":"ping"}',
    '{"jsonrpc":"2.0","id":2,"result":{}}',
    '{"timestamp_ms":1785578400500,"jsonrpc":"2.0","id":3,"method":"ping"}',
    '{"timestamp_ms":1785578400700,"jsonrpc":"2.0","id":3,"result":{}}',
  ]
  beforeAll(() => writeFileSync(join(folder, 'partly.jsonl'), `${partly.join('\n')}\n`))
  const times = (shown: Run): (string | undefined)[] => rowsOf(shown).map((row) => row.trim().split(/ +/)[1])
  const expected = ['–', '0.000', '0.500', '–', '0.500', '0.700']

  it.each(['trace-v1', 'session-json'])(
    'shows the others without, also after conversion to %s',
    async (format) => {
      expect(times(await run('inspect', 'partly.jsonl'))).toEqual(expected)
      expect((await run('convert', 'partly.jsonl', `partly.${format}`, '--to', format, '--force')).code).toBe(
        0,
      )
      const shown = await run('inspect', `partly.${format}`)
      expect(times(shown)).toEqual(expected)
      // The one known latency, in its row and in the summary, and the time from the first to the last timed message.
      expect(shown.stdout.match(/\d ms/g)).toHaveLength(3)
      expect(shown.stdout).toContain('duration 700 ms')
      expect(shown.stdout).toContain('server answered in 200 ms (#5)')
    },
  )

  it('matches filters for times and latencies with the known ones', async () => {
    const found = async (filter: string): Promise<number> =>
      rowsOf(await run('inspect', 'partly.jsonl', '--filter', filter)).length
    expect(await found('latency:>=0ms')).toBe(2)
    expect(await found('since:2000-01-01')).toBe(4)
    expect(await found('since:100ms')).toBe(1)
    expect(await found('-since:2000-01-01')).toBe(2)
  })

  it('has empty cells for them in a table', async () => {
    const { stdout } = await run('convert', 'partly.jsonl', '-', '--to', 'csv')
    const rows = stdout.split('\r\n').slice(1, -1)
    expect(rows.map((row) => row.split(',')[2])).toEqual(['', '0', '500', '', '500', '700'])
    expect(rows.map((row) => row.split(',')[9])).toEqual(['', '', '', '', '', '200'])
  })

  it('keeps its order when it is merged with another', async () => {
    expect((await run('convert', 'partly.jsonl', 'timed.jsonl', 'both.jsonl', '--force')).code).toBe(0)
    const shown = await run('inspect', 'both.jsonl')
    expect(rowsOf(shown)).toHaveLength(8)
    expect(times(shown).filter((time) => time === '–')).toHaveLength(2)
    expect(shown.stdout).toContain('✓ no faults')
  })
})
