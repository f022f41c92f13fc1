import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deleteRecording } from '../../../src/cli/delete-recording.js'
// The built program has threads, which write several files.
import { IndexFiles } from '../../../dist/cli/sql/index-files.js'
import type { RowFile } from '../../../src/cli/sql/batch-folder.js'
import { scopeOf } from '../../../src/cli/search/scope.js'
import { tapeOf } from '../collect/collected.js'
import { rowsIn } from './rows-in.js'

let dataFolder: string
let tape: string
beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), 'wiretape-index-test-'))
  mkdirSync(join(dataFolder, 'recordings'))
  tape = join(dataFolder, 'recordings', 'shop.jsonl')
})
afterEach(() => rmSync(dataFolder, { recursive: true, force: true }))

/** The files that a query would read. */
let files: readonly RowFile[]

/** Paths of the files of messages that a query would read now. */
async function indexes(): Promise<string[]> {
  const io = { cwd: '/', dataFolder }
  const index = new IndexFiles(io)
  try {
    const recordings = await scopeOf([], io)
    await index.sweep(recordings)
    const { files: found, failures } = await index.rows(recordings)
    expect(failures).toEqual([])
    files = found
    return found.map(({ messages }) => messages)
  } finally {
    await index.close()
  }
}

async function rows(): Promise<Record<string, unknown>[]> {
  await indexes()
  const all = await Promise.all(
    files.map(async ({ messages, others, parts }) =>
      (await rowsIn([messages, others])).filter(
        ({ part }) => parts === undefined || parts.includes(String(part)),
      ),
    ),
  )
  return all.flat()
}

async function seqs(): Promise<unknown[]> {
  return (await rows()).filter(({ kind }) => kind !== 'session').map(({ seq }) => seq)
}

describe('the index of recordings', () => {
  it('is made once, and anew after a recording grew, was redacted in place or was renamed', async () => {
    writeFileSync(tape, tapeOf(2))
    const [first] = await indexes()
    const made = statSync(first!).mtimeMs
    expect(await indexes()).toEqual([first])
    expect(statSync(first!).mtimeMs).toBe(made)

    writeFileSync(tape, tapeOf(3))
    expect(await seqs()).toEqual([0, 1, 2, 3, 4, 5])

    // A rewritten file of the same size and time, as another program may leave it.
    const before = statSync(tape)
    writeFileSync(`${tape}.new`, tapeOf(3).replaceAll('"echo"', '"ECHO"'))
    renameSync(`${tape}.new`, tape)
    utimesSync(tape, before.atime, before.mtime)
    expect((await rows()).filter(({ subject }) => subject === 'ECHO')).toHaveLength(6)

    renameSync(tape, join(dataFolder, 'recordings', 'other.jsonl'))
    const found = (await rows()).find(({ kind }) => kind === 'session')
    expect(JSON.parse(String(found!['text']))).toMatchObject({ recording: 'other.jsonl' })
    // The files of messages and other rows, and the list of their recordings.
    expect(readdirSync(join(dataFolder, 'index'))).toHaveLength(3)
  })

  it('leaves an index in place that another query may be about to open', async () => {
    writeFileSync(tape, tapeOf(1))
    const [old] = await indexes()
    writeFileSync(tape, tapeOf(2))
    await indexes()
    expect(statSync(old!).size).toBeGreaterThan(0)
    utimesSync(old!, 0, 0)
    await indexes()
    expect(readdirSync(join(dataFolder, 'index')).some((name) => old!.endsWith(name))).toBe(false)
  })

  it('leaves an index in place that another process is writing', async () => {
    writeFileSync(tape, tapeOf(1))
    const [path] = await indexes()
    const written = join(dirname(path!), `.${basename(path!)}.wiretape-${process.ppid}-12345678.tmp`)
    const ofDead = join(dirname(path!), `.rows4-a.parquet.wiretape-${2 ** 22 + 1}-12345678.tmp`)
    for (const name of [written, ofDead]) writeFileSync(name, 'half')
    await indexes()
    expect([existsSync(written), existsSync(ofDead)]).toEqual([true, false])
  })

  it('is whole when several queries make it at once', async () => {
    writeFileSync(tape, tapeOf(200))
    await Promise.all([indexes(), indexes(), indexes()])
    expect(await indexes()).toHaveLength(1)
    expect(await seqs()).toHaveLength(400)
  })

  it('has the rows of many recordings in one file, also of those that came one by one', async () => {
    const named = (i: number): string => join(dataFolder, 'recordings', `other-${i}.jsonl`)
    for (let i = 0; i < 40; i += 1) writeFileSync(named(i), tapeOf(2))
    expect(await indexes()).toHaveLength(1)
    expect(await seqs()).toHaveLength(160)
    for (let i = 40; i < 60; i += 1) {
      writeFileSync(named(i), tapeOf(2))
      expect((await indexes()).length).toBeLessThan(10)
    }
    expect(await seqs()).toHaveLength(240)
  })

  it('of a recording that grew is made again without the others beside it', async () => {
    writeFileSync(tape, tapeOf(1))
    const other = join(dataFolder, 'recordings', 'other.jsonl')
    writeFileSync(other, tapeOf(2))
    const [both] = await indexes()
    writeFileSync(tape, tapeOf(3))
    const files = await indexes()
    expect([files.length, files.includes(both!)]).toEqual([2, true])
    expect((await seqs()).length).toBe(10)
  })

  it('goes with a deleted recording', async () => {
    writeFileSync(tape, tapeOf(1))
    const other = join(dataFolder, 'recordings', 'other.jsonl')
    writeFileSync(other, tapeOf(2))
    await indexes()
    await deleteRecording([other], dataFolder)
    expect(readdirSync(join(dataFolder, 'index'))).toEqual([])
    expect(await seqs()).toHaveLength(2)
  })

  it('of hundreds of small recordings stays, but for those beside a deleted one', async () => {
    const named = (i: number): string => join(dataFolder, 'recordings', `other-${i}.jsonl`)
    for (let i = 0; i < 300; i += 1) writeFileSync(named(i), tapeOf(1))
    const made = await indexes()
    rmSync(named(0))
    expect((await indexes()).filter((path) => made.includes(path))).toHaveLength(made.length - 1)
    expect(await seqs()).toHaveLength(598)
  })

  it('is made again where a failing disk cut it', async () => {
    writeFileSync(tape, tapeOf(2))
    const [path] = await indexes()
    truncateSync(path!, 100)
    expect(await seqs()).toHaveLength(4)
    truncateSync(path!, 0)
    expect(await seqs()).toHaveLength(4)
  })

  it('is readable whatever numbers and texts a hostile tape has', async () => {
    const [meta = '', call = '', ...rest] = tapeOf(2).split('\n')
    const hostile = JSON.parse(call)
    const strange = [
      { ...hostile, id: '00000000-0000-4000-8000-000000000001', seq: 2 ** 40, us: 1e300 },
      { ...hostile, id: '00000000-0000-4000-8000-000000000002', seq: 7, t: '+275760-09-13T00:00:00.000Z' },
      { ...hostile, id: '00000000-0000-4000-8000-000000000003', seq: 8, http: { exchange: 1, status: 1e12 } },
      {
        ...hostile,
        id: '00000000-0000-4000-8000-000000000004',
        seq: 9,
        raw: { ...hostile.raw, id: '\ud800\u0000' },
      },
      { t: hostile.t, type: 'end', exit: 1e15, messages: 3 },
    ]
    const lines = [
      meta.replace('"label":"shop"', '"label":"\\ud800"'),
      call,
      ...strange.map((line) => JSON.stringify(line)),
      ...rest,
    ]
    writeFileSync(tape, lines.join('\n'))
    const found = await rows()
    expect(found.length).toBeGreaterThanOrEqual(8)
    const session = found.find(({ kind }) => kind === 'session')
    expect(String(session!['text'])).not.toContain('\\ud800')
  })
})
