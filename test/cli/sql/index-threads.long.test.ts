import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
// Threads start from the built program only: the compiler has not written them.
import { writeBatch as writeWithThread } from '../../../dist/cli/sql/batch.js'
import { IndexFiles } from '../../../dist/cli/sql/index-files.js'
import { scopeOf } from '../../../src/cli/search/scope.js'
import { writeBatch } from '../../../src/cli/sql/batch.js'
import { othersOf } from '../../../src/cli/sql/batch-list.js'
import { tapeOf } from '../collect/collected.js'
import { rowsIn, type Row } from './rows-in.js'

let dataFolder: string
beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), 'wiretape-threads-test-'))
  mkdirSync(join(dataFolder, 'recordings'))
})
afterEach(() => rmSync(dataFolder, { recursive: true, force: true }))

function recordingPath(name: string): string {
  return join(dataFolder, 'recordings', `${name}.jsonl`)
}

/** A tape whose messages have so many bytes of arguments in between. */
function longTape(calls: number, everyBytes: number, every: number): string {
  const long = 'x'.repeat(everyBytes)
  return tapeOf(calls).replaceAll(/"arguments":\{"i":(\d+)\}/g, (whole, i: string) =>
    Number(i) % every === 0 ? `"arguments":{"i":${i},"text":"${long}"}` : whole,
  )
}

/** The rows of a batch in the order of the recording, each with the text of its message. @param path of its messages */
async function rowsOf(path: string): Promise<Row[]> {
  const rows = await rowsIn([path, othersOf(path)])
  const tapes = new Map<unknown, Buffer>()
  return rows
    .map(({ payload_start: start, payload_end: end, file, text, ...row }) => {
      const name = String(row['recording'])
      if (typeof file !== 'number') return { ...row, text }
      if (!tapes.has(name)) tapes.set(name, readFileSync(join(dataFolder, 'recordings', name)))
      return { ...row, text: tapes.get(name)!.toString('utf8', Number(start), Number(end)) }
    })
    .toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)))
}

function orderOf(row: Row): string {
  return `${String(row['recording'])} ${String(Number(row['row'] ?? -1)).padStart(9, '0')}`
}

/** A tape that needs more memory than a small thread has. */
function manySessions(): string {
  const metas = Array.from({ length: 40_000 }, (_, i) =>
    meta.replace(/(?<="session":")[^"]+/, `session-${i}`),
  )
  return metas.join('')
}
const meta = tapeOf(0)

/** Indexes all recordings in a process with these options of Node. */
function indexed(...options: string[]): { files: string[]; failures: string[] } {
  const script = `
    import { IndexFiles } from ${JSON.stringify(join(import.meta.dirname, '../../../dist/cli/sql/index-files.js'))}
    import { scopeOf } from ${JSON.stringify(join(import.meta.dirname, '../../../dist/cli/search/scope.js'))}
    const io = { cwd: '/', dataFolder: ${JSON.stringify(dataFolder)} }
    const recordings = await scopeOf([], io)
    const indexes = new IndexFiles(io)
    await indexes.sweep(recordings)
    const { files, failures } = await indexes.rows(recordings)
    console.log(JSON.stringify({ files: files.map(({ messages }) => messages).toSorted(), failures: failures.map(({ message }) => message) }))`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...options, '--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  return JSON.parse(stdout) as { files: string[]; failures: string[] }
}

describe('an index that threads write', () => {
  it('has the same rows as one without threads, for many recordings', async () => {
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(recordingPath(name), longTape(600, 100_000, 3))
    const indexes = new IndexFiles({ cwd: '/', dataFolder })
    const recordings = await scopeOf([], { cwd: '/', dataFolder })
    const { files, failures } = await indexes.rows(recordings)
    expect([files.length > 1, failures]).toEqual([true, []])
    const found = (await Promise.all(files.map(({ messages }) => rowsOf(messages)))).flat()
    const alone = join(dataFolder, 'alone.parquet')
    const members = recordings.map((recording) => ({
      ...recording,
      part: indexes.part(recording),
      areAll: true,
    }))
    await writeBatch({ path: alone, cwd: '/', members })
    expect(found.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)))).toEqual(await rowsOf(alone))
    expect(found).toHaveLength(4 * 1_201)
  })

  it('has the same rows as one without threads, for one large recording', async () => {
    const path = recordingPath('large')
    writeFileSync(path, longTape(4_000, 700_000, 20))
    const written = async (write: typeof writeBatch): Promise<Row[]> => {
      const index = join(dataFolder, 'large.parquet')
      const { failures } = await write({
        path: index,
        cwd: '/',
        members: [{ name: 'large.jsonl', paths: [path], areAll: true, part: 'part' }],
      })
      expect(failures).toEqual([])
      return rowsOf(index)
    }
    const found = await written(writeWithThread)
    expect(found).toHaveLength(8_001)
    expect(found).toEqual(await written(writeBatch))
  })

  it('names a recording whose thread dies, has all others, and tries it again only after it changed', async () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(recordingPath(name), longTape(300, 100_000, 2))
    // Its sessions do not fit into the memory of a thread. It shares a batch with another recording.
    writeFileSync(recordingPath('d'), manySessions())
    const dies = ['cannot index d.jsonl: its thread ended (out of memory)']
    const { files, failures } = indexed('--max-old-space-size=40')
    expect(failures).toEqual(dies)
    expect((await Promise.all(files.map(rowsOf))).flat()).toHaveLength(3 * 601)
    // Now there is enough memory.
    expect(indexed()).toEqual({ files, failures: dies })
    appendFileSync(recordingPath('d'), meta)
    expect(indexed().failures).toEqual([])
  })

  it('names a large recording whose thread dies, also if it is the only one', () => {
    writeFileSync(recordingPath('d'), `${manySessions()}${longTape(200, 700_000, 1)}`)
    expect(indexed('--max-old-space-size=40')).toEqual({
      files: [],
      failures: ['cannot index d.jsonl: its thread ended (out of memory)'],
    })
  })
})
