import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { plainEnv, wiretape } from '../behaviour/run-cli.js'
import { server, until, useStage } from '../behaviour/stage.js'
// The saving thread runs compiled code.
import { createSessionSaver } from '../../dist/capture/session-saver.js'
import { identity } from '../fixtures/identity.mjs'

const stage = useStage()
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-saver-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
})

const ids = (where: string): string[] =>
  readdirSync(where)
    .filter((name) => name.startsWith('s.json'))
    .map((name): string => JSON.parse(readFileSync(join(where, name), 'utf8')).id)

it('runs one after the other on one session file keep what each of them saved', async () => {
  const command = server('exit-with.mjs', '0')
  const args = ['record', '--out', stage.out, '--session-file', 's.json', '--', ...command]
  for (let run = 0; run < 4; run += 1) await wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env) })
  expect(new Set(ids(stage.folder)).size).toBe(4)
})

it('runs at the same time on one session file keep what each of them saved last', async () => {
  const target = join(folder, 's.json')
  const savers = ['a', 'b'].map((id) => {
    const tape = join(folder, `${id}.jsonl`)
    const wiretape = { ...identity, session: id }
    const meta = { v: 1, type: 'meta', startedAt: '2026-01-01T00:00:00.000Z', label: id, command: [] }
    writeFileSync(tape, `${JSON.stringify({ ...meta, wiretape: { ...wiretape, metadata: {} } })}\n`)
    return { tape, saver: createSessionSaver({ target, tape }) }
  })
  const [a, b] = savers
  // Each saver replaces the other's file, more than once, and both at the same moment at the end.
  for (const { saver } of [a!, b!, a!, a!, b!]) expect(await saver.now()).toBeUndefined()
  await Promise.all(savers.map(({ tape, saver }) => saver.finish([tape])))
  expect(new Set(ids(folder))).toEqual(new Set(['a', 'b']))
})

it('a run that saves on the way leaves alone what another run has put there meanwhile', async () => {
  const target = join(folder, 's.json')
  const tape = join(folder, 'a.jsonl')
  const meta = { v: 1, type: 'meta', startedAt: '2026-01-01T00:00:00.000Z', label: 'a', command: [] }
  writeFileSync(tape, `${JSON.stringify(meta)}\n`)
  const saver = createSessionSaver({ target, tape, pauseMs: 1, pauseFactor: 0 })
  await saver.now()
  const begun = performance.now()
  const other = JSON.stringify({ id: 'other' })
  writeFileSync(target, other)
  await until('it had time for many saves', () => performance.now() > begun + 300)
  expect(readdirSync(folder).filter((name) => name.startsWith('s.json'))).toEqual(['s.json'])
  await saver.finish([tape])
  expect(ids(folder)).toContain('other')
  expect(ids(folder)).toHaveLength(2)
})
