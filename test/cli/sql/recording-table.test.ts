import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadRecordings } from '../../../src/cli/recordings.js'
import { RecordingTable } from '../../../src/cli/sql/recording-table.js'
import { RowColumns } from '../../../src/cli/sql/row-columns.js'
import { tapeOf } from '../collect/collected.js'

it('a table of much text is written in more groups, with the same rows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-table-test-'))
  const path = join(folder, 'long.jsonl')
  // Messages of batches are kept as text.
  const batched = tapeOf(20).replaceAll(/"raw":(\{.*?\}),"id"/g, '"raw":[$1],"id"')
  writeFileSync(path, batched)
  try {
    let columns: RowColumns | undefined
    const { close } = await loadRecordings(
      [path],
      '/',
      (fold) => (columns = new RowColumns(fold, 'long', [path])),
    )
    await close()
    const written = (table: RecordingTable): ArrayBuffer => {
      table.add(columns!, 'long', 'part')
      return Uint8Array.from(Buffer.concat(table.chunks())).buffer
    }
    const [whole, halved] = [written(new RecordingTable()), written(new RecordingTable(500))]
    const rows = await parquetReadObjects({ file: whole })
    expect(rows.filter(({ text }) => String(text).startsWith('{"jsonrpc"'))).toHaveLength(40)
    expect(await parquetReadObjects({ file: halved })).toEqual(rows)
    const groups = (file: ArrayBuffer): number => parquetMetadata(file).row_groups.length
    expect([groups(whole), groups(halved) > 4]).toEqual([1, true])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
