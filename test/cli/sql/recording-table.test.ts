import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { afterFile } from '../../after-file.js'
import { loadRecordings } from '../../../src/cli/recordings.js'
import { RecordingTable } from '../../../src/cli/sql/recording-table.js'
import type { RowColumns } from '../../../src/cli/sql/row-columns.js'
import { tapeOf } from '../collect/collected.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-table-test-'))
afterFile(() => rmSync(folder, { recursive: true, force: true }))

/** Adds a recording to a table; one that cannot be read to its end is discarded. */
async function add(table: RecordingTable, name: string, isReadable = true): Promise<void> {
  const path = join(folder, name)
  let columns: RowColumns | undefined
  const { close } = await loadRecordings([path], '/', (fold) => (columns = table.begin(fold, name, [path])))
  await close()
  if (isReadable) table.add(columns!, name, `part of ${name}`)
  else table.discard()
}

function bytesOf(chunks: readonly Uint8Array[]): ArrayBuffer {
  return Uint8Array.from(Buffer.concat(chunks)).buffer
}

it('a table of much text is written in more groups, with the same rows', async () => {
  // Messages of batches are kept as text.
  writeFileSync(join(folder, 'long.jsonl'), tapeOf(20).replaceAll(/"raw":(\{.*?\}),"id"/g, '"raw":[$1],"id"'))
  const written = async (table: RecordingTable): Promise<ArrayBuffer> => {
    await add(table, 'long.jsonl')
    return bytesOf(table.files().messages)
  }
  const [whole, halved] = [await written(new RecordingTable()), await written(new RecordingTable(500))]
  const rows = await parquetReadObjects({ file: whole })
  expect(rows.filter(({ text }) => String(text).startsWith('{"jsonrpc"'))).toHaveLength(40)
  expect(await parquetReadObjects({ file: halved })).toEqual(rows)
  const groups = (file: ArrayBuffer): number => parquetMetadata(file).row_groups.length
  expect([groups(whole), groups(halved) > 4]).toEqual([1, true])
})

it('recordings in one table have the rows that each has alone, also after one that cannot be read', async () => {
  const stderr = (i: number): string =>
    JSON.stringify({ t: '2026-08-01T10:00:00.000Z', type: 'stderr', text: `line ${i}` })
  const lines = (calls: number): string[] => tapeOf(calls).trimEnd().split('\n')
  const error = lines(30).map((line) =>
    line.replace('"result":{"content":[]}', '"error":{"code":-1,"message":"no"}'),
  )
  const batches = lines(10).map((line) => line.replace(/"raw":(\{.*\}),"id"/, '"raw":[$1],"id"'))
  const mixed = lines(40).flatMap((line, i) => (i % 3 === 0 ? [line, stderr(i)] : [line]))
  const tapes = { error, batches, mixed, plain: lines(5), sessions: [...lines(3), ...lines(4)] }
  for (const [name, tape] of Object.entries(tapes)) writeFileSync(join(folder, name), `${tape.join('\n')}\n`)
  const [together, alone] = [new RecordingTable(), Object.keys(tapes).map(() => new RecordingTable())]
  for (const [i, name] of Object.keys(tapes).entries()) {
    await add(together, 'batches', false)
    await add(together, name)
    await add(alone[i]!, name)
  }
  const { messages, others } = together.files()
  const each = alone.map((table) => table.files())
  const rowsOf = async (all: readonly (readonly Uint8Array[])[]): Promise<string[]> =>
    (await Promise.all(all.map((chunks) => parquetReadObjects({ file: bytesOf(chunks) }))))
      .flat()
      .map((row) => JSON.stringify(row))
      .toSorted()
  const found = [await rowsOf([messages]), await rowsOf([others])]
  expect(found).toEqual([
    await rowsOf(each.map((files) => files.messages)),
    await rowsOf(each.map((files) => files.others)),
  ])
  expect(found.map((rows) => rows.length)).toEqual([2 * (30 + 10 + 40 + 5 + 7), 27 + 6])
})
