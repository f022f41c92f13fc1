import { describe, expect, it } from 'vitest'
import { createVarying, matchRule, type RunSide } from '../../src/compare/index.js'
import { call, compared } from './stage.js'

/** Two runs, a week and three hours apart. */
const then: RunSide = {
  atMs: Date.UTC(2026, 10, 15, 10, 43, 57),
  ageMs: 3_000,
  latencyMs: 40,
  uses: () => undefined,
}
const now: RunSide = {
  atMs: Date.UTC(2026, 10, 22, 13, 43, 57),
  ageMs: 4_000,
  latencyMs: 60,
  uses: () => undefined,
}

function varies(before: unknown, after: unknown, name = 'text'): readonly string[] | undefined {
  return createVarying().between(then, now)(['result', name], JSON.stringify(before), JSON.stringify(after))
}

describe('a value that every run makes anew', () => {
  it.each([
    ['timestamp', 'at 2026-11-15T10:43:57.037Z.', 'at 2026-11-22T13:43:57.1Z.'],
    ['timestamp', 'a-2026-11-15T10-43-57-037Z.log', 'a-2026-11-22T13-43-57-012Z.log'],
    ['timestamp', '2026-11-15T19:43:57+09:00', '2026-11-22T22:43:58+09:00'],
    ['timestamp', 'Sun Nov 15 10:43:57 UTC 2026'.replace(' UTC', ''), 'Sun Nov 22 13:43:57 2026'],
    ['timestamp', '11/15/2026, 10:43:57 AM', '11/22/2026, 1:43:57 PM'],
    ['timestamp', '15.11.2026, 10:43:57', '22.11.2026, 13:43:58'],
    ['timestamp', 'Today is 15 November 2026', 'Today is 22 November 2026'],
    ['timestamp', '15 de noviembre de 2026', '22 de noviembre de 2026'],
    ['timestamp', 'It is 7:43 PM in Tokyo', 'It is 10:43 PM in Tokyo'],
    ['timestamp', 'ns 1794739437000000123', 'ns 1795355037000000456'],
    ['timestamp', '20261115T104357Z', '20261122T134357Z'],
    ['uuid', 'id 3550bcd6-372d-4f35-9a48-294a1b2c3d4e', 'id 1878c903-b8ae-48e7-9eb7-e18a1b2c3d4e'],
    ['id', 'Created task_x8f3k2q', 'Created task_p93kd1z'],
    ['commit', '[main (root-commit) 7d1fbf1] first', '[main (root-commit) 01ef68c] first'],
    ['process id', 'PID: 4711', 'PID: 822'],
    ['port', 'on http://localhost:40123/', 'on http://localhost:51234/'],
    ['path', 'in /tmp/work-aB3x9Q/out.txt', 'in /tmp/work-Zk81pO/out.txt'],
    ['path', '/tmp/jobs/bg-1794739437000-1pct93.log', '/tmp/jobs/bg-1795355037000-abcdef.log'],
    ['id', 'Created task_abcdefg', 'Created task_p93kd1z'],
    ['duration', 'done in 12ms', 'done in 1.5 ms'],
    ['duration', 'Uptime: 2.5 seconds', 'Uptime: 3.25 seconds'],
  ])('is told as %s: %s', (kind, before, after) => {
    expect(varies(before, after)).toEqual([kind])
  })

  it.each([
    ['pid', 4711, 822, 'process id'],
    ['durationMs', 12, 31.5, 'duration'],
    ['createdAt', 1_794_739_437_000, 1_795_355_037_250, 'timestamp'],
    ['port', 40_123, 51_234, 'port'],
    ['heapUsed', 12_000_000, 13_000_000, 'measurement'],
  ])('is a number by its name: %s', (name, before, after, kind) => {
    expect(varies(before, after, name)).toEqual([kind])
  })

  it.each([
    ['another word', 'It is 10:43:57 here', 'It is 13:43:57 there'],
    ['a date that did not move with the clock', 'due 2026-12-01', 'due 2026-12-02'],
    ['a clock of another zone', '2026-11-15T10:43:57Z', '2026-11-22T15:43:57Z'],
    ['a deadline of two hours in the place of one', '2026-11-15T11:43:57Z', '2026-11-22T15:43:57Z'],
    ['a time-out that nobody measured', 'waits 30s', 'waits 60s'],
    ['a version', 'v1.2.3', 'v1.2.4'],
    ['a count', 'Found 3 files', 'Found 4 files'],
    [
      'a digest',
      'sha1: da39a3ee5e6b4b0d3255bfef95601890afd80709',
      'sha1: 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33',
    ],
    ['a well-known port', 'on http://localhost:3000/', 'on http://localhost:4000/'],
    ['a name in a temporary folder', '/tmp/work/report', '/tmp/work/backup'],
    ['a size', '12 kB', '13 kB'],
    ['one id for two', 'ids task_x8f3k2q task_x8f3k2q', 'ids task_p93kd1z task_a11bb22'],
  ])('is not %s', (_, before, after) => {
    expect(varies(before, after)).toBeUndefined()
  })

  it('is one value for one value, in all answers', () => {
    const text = createVarying().between(then, now)
    const is = (before: string, after: string): boolean =>
      text(['id'], JSON.stringify(`task_${before}`), JSON.stringify(`task_${after}`)) !== undefined
    expect([
      is('x8f3k2q', 'p93kd1z'),
      is('x8f3k2q', 'p93kd1z'),
      is('x8f3k2q', 'w71bb22'),
      is('m0k4j3h', 'p93kd1z'),
    ]).toEqual([true, true, false, false])
  })
})

it('is taken by matchers for one place together', async () => {
  const at = (text: string) => [call('now', {}, text)]
  const [before, after] = [at('10:00:01, 5 files, 12 ms'), at('11:30:02, 9 files, 3 ms')]
  const counts = async (...texts: string[]) => {
    const rules = texts.map((text) => matchRule('$..text', text))
    return (await compared(before, after, { level: 'semantic', rules, varying: false })).summary.counts
  }
  expect(await counts('timestamp', 'duration')).toMatchObject({ changed: 1 })
  expect(await counts('timestamp', 'duration', 'number')).toMatchObject({ same: 1 })
  expect(await counts('timestamp+duration+number')).toMatchObject({ same: 1 })
})

describe('recordings whose client gives back what the server made', () => {
  const talk = (pid: number, note: number, id: string, text = 'tea') => [
    call('start', {}, { pid, state: 'up' }),
    call('add', { text }, `Saved note #${note}`),
    call('open', { text }, { session: id }),
    call('kill', { pid }, `Process ${pid} has ended`),
    call('read', { noteId: note }, { noteId: note, text }),
    call('close', { session: id }, `closed ${id}`),
  ]

  it('are the same, with numbers and with texts', async () => {
    const { summary, exchanges } = await compared(talk(4711, 7, 's-1a2b3c4d'), talk(822, 12, 's-9z8y7x6w'))
    expect(exchanges.filter(({ verdict }) => verdict !== 'same')).toEqual([])
    expect(summary).toMatchObject({
      same: true,
      counts: { same: 6 },
      varied: { 'process id': 2, handle: 4 },
    })
  })

  it('differ where the answer to such a call does', async () => {
    const other = talk(822, 12, 's-9z8y7x6w').map((said) =>
      said.result && JSON.stringify(said).includes('has ended')
        ? call('kill', { pid: 822 }, 'Process 822 is left')
        : said,
    )
    const { summary } = await compared(talk(4711, 7, 's-1a2b3c4d'), other)
    expect(summary.counts).toMatchObject({ same: 5, changed: 1, missing: 0, new: 0 })
  })

  it('differ when what every run makes anew is to count', async () => {
    const settings = { level: 'semantic' as const, rules: [], varying: false }
    const { summary } = await compared(talk(4711, 7, 's-1a2b3c4d'), talk(822, 12, 's-9z8y7x6w'), settings)
    expect(summary.counts).toMatchObject({ changed: 3, missing: 3, new: 3 })
  })
})
