import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'
import { linesOfTape } from '../behaviour/tape-bytes.js'

const stage = useStage()
const cli = wiretapeIn(stage)
const session = join(import.meta.dirname, '../fixtures/session-json/documented.json')

it('convert --strict-v1 writes what the published format has, and nothing else', async () => {
  expect(await cli('convert', '--strict-v1', session, 'o.jsonl')).toMatchObject({ code: 0 })
  const lines = linesOfTape(stage.path('o.jsonl'))
  const milliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  expect(Object.keys(lines[0]!)).toEqual(['v', 'type', 'startedAt', 'label', 'command'])
  expect(lines[0]!['startedAt']).toMatch(milliseconds)
  for (const line of lines.slice(1, -1)) expect(Object.keys(line)).toEqual(['t', 'dir', 'raw'])
  expect(lines.at(-1)).toEqual({
    t: expect.stringMatching(milliseconds),
    type: 'end',
    exitCode: 1,
    durationMs: 330_000,
  })
})

it('convert --strict-v1 refuses several servers in one file, and other formats', async () => {
  await cli('convert', session, 'a.jsonl')
  expect(readFileSync(stage.path('a.jsonl'), 'utf8')).not.toBe('')
  expect(await cli('convert', '--strict-v1', session, 'a.jsonl', 'o.jsonl')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('one server per file'),
  })
  expect(await cli('convert', '--strict-v1', '--to', 'csv', session, 'o.csv')).toMatchObject({ code: 2 })
})
