import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Run, wiretapeIn } from '../behaviour/run-cli.js'
import { server, useStage } from '../behaviour/stage.js'

const stage = useStage()

const cli = wiretapeIn(stage)
const metadata = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(stage.path(name), 'utf8')).metadata
const record = (...options: string[]): Promise<Run> =>
  cli('record', '--out', stage.out, ...options, '--', ...server('exit-with.mjs', '0'))

it('keeps every --note of a recording', async () => {
  expect(await record('--session-file', 's.json', '--note', 'A', '--note', 'B')).toMatchObject({ code: 0 })
  expect(metadata('s.json')).toMatchObject({ notes: 'A\nB' })
})

it('proxy export adds every --note to the notes that are there', async () => {
  await record('--session-file', 's.json', '--note', 'first')
  const args = [
    'proxy',
    'export',
    '--session-file',
    's.json',
    '--output',
    'e.json',
    '--note',
    'A',
    '--note',
    'B',
  ]
  expect(await cli(...args)).toMatchObject({ code: 0 })
  expect(metadata('e.json')).toMatchObject({ notes: 'first\nA\nB' })
})

it.each([
  [
    ['one', { n: 2 }],
    ['one', { n: 2 }, 'A'],
  ],
  [{ by: 'me' }, [{ by: 'me' }, 'A']],
  [null, 'A'],
])('proxy export adds a note to notes of another kind: %j', async (before, after) => {
  await record('--session-file', 's.json')
  const session = JSON.parse(readFileSync(stage.path('s.json'), 'utf8'))
  session.metadata.notes = before
  writeFileSync(stage.path('s.json'), JSON.stringify(session))
  await cli('proxy', 'export', '--session-file', 's.json', '--output', 'e.json', '--note', 'A')
  expect(metadata('e.json').notes).toEqual(after)
})

it.each(['-', '/dev/stdout', '/dev/../dev/stdout', '/dev/fd/1', '/proc/self/fd/1', '/dev/stderr'])(
  'refuses %s as a session file: it belongs to the client or the server',
  async (name) => {
    const run = await record('--session-file', name)
    const stream = name.endsWith('err') ? 'stderr' : 'stdout'
    expect(run).toEqual({
      code: 2,
      stdout: '',
      stderr: `wiretape: a session file cannot be ${stream} (name a file)\n`,
    })
  },
)
