/** Names of a recording in the data folder, besides its path. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainEnv, wiretape, type Run } from './run-cli.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-names-'))
const recordings = join(folder, 'wiretape/recordings')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Noon of a day, counted from today, in local time. */
function noon(day: number): Date {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + day, 12)
}
const sessions = { old: '11111111-1111-4111-8111-111111111111', new: '22222222-2222-4222-8222-222222222222' }

function put(file: string, label: string, at: Date, session: string, text: string): void {
  const t = at.toISOString()
  const wiretape = { writer: '0.1.0', session, segment: 0 }
  const lines = [
    { v: 1, type: 'meta', startedAt: t, label, command: ['x'], mcpTapVersion: '1', wiretape },
    { t, dir: 'in', raw: { jsonrpc: '2.0', id: 1, method: text } },
    { t, type: 'end', exitCode: 0, durationMs: 1 },
  ]
  writeFileSync(join(recordings, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

beforeAll(() => {
  mkdirSync(recordings, { recursive: true })
  put('a.jsonl', 'shop', noon(-9), sessions.old, 'oldest')
  put('z.jsonl', 'shop', noon(-1), '33333333-3333-4333-8333-333333333333', 'yesterday')
  put('b.jsonl', 'files', noon(-1), '44444444-4444-4444-8444-444444444444', 'other')
  put('c.jsonl', 'shop', noon(0), sessions.new, 'newest')
  writeFileSync(join(recordings, 'notes.txt'), 'mine')
})

const inspect = (name: string): Promise<Run> =>
  wiretape(['inspect', name], { cwd: folder, env: plainEnv({ XDG_DATA_HOME: folder }) })

describe('a recording is named by', () => {
  const day = noon(-9)
  const date = [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((n) => `${n}`.padStart(2, '0'))
    .join('-')

  it.each([
    ['its file', 'a.jsonl', 'oldest'],
    ['latest', 'latest', 'newest'],
    ['how many before the newest', 'latest~3', 'oldest'],
    ['its label', 'files', 'other'],
    ['its label, where several have it: the newest', 'shop', 'newest'],
    ['a label and how many before', 'shop~1', 'yesterday'],
    ['a label and yesterday', 'shop@yesterday', 'yesterday'],
    ['a label and today', 'shop@today', 'newest'],
    ['a label and a date', `shop@${date}`, 'oldest'],
    ['latest of a day, and how many before', `latest@${date}~0`, 'oldest'],
    ['the beginning of its id', sessions.old.slice(0, 8), 'oldest'],
  ])('%s: %s', async (_, name, method) => {
    expect(await inspect(name)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(method),
      stderr: '',
    })
  })

  it.each([
    ['nobody', 'cannot read nobody: no such file\n'],
    ['nobody~1', 'no such file, and no recording has this name, label or id (wiretape ls lists them)'],
    ['shop@2001-01-01', 'no recording has this name'],
    ['shop~7', 'the folder has only 3 such recordings'],
    ['nosuch.jsonl', 'cannot read nosuch.jsonl: no such file\n'],
  ])('no other text: %s is refused', async (name, why) => {
    expect(await inspect(name)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(why) })
  })

  it('a file of the working directory first', async () => {
    put('../../shop', 'here', noon(0), sessions.new, 'beside')
    const { stdout } = await inspect('shop')
    rmSync(join(folder, 'shop'))
    expect(stdout).toContain('beside')
  })
})
