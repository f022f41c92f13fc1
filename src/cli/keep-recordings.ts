import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { registryFolderIn } from '../capture/index.js'
import { liveCaptures } from '../control/index.js'
import { safeLabel, summarizeTape, type TapeSummary } from '../tape/index.js'
import { deleteRecording } from './delete-recording.js'
import { placeOf, rowOf, type Row } from './folder-rows.js'
import { joinSegments } from '../formats/index.js'
import { mayDeleteNow } from './may-delete.js'
import type { Keep } from './keep-option.js'

/**
 * Deletes excess older recordings of one label in a folder. Live recordings and the newest one always stay;
 * other labels and other files are not touched.
 *
 * @returns the deleted recordings
 */
export async function keepRecordings(
  folder: string,
  label: string,
  keep: Keep,
  dataFolder: string,
  nowMs = Date.now(),
): Promise<Row[]> {
  const names = await readdir(folder).catch(() => [])
  const tapes: TapeSummary[] = []
  for (const name of names.filter((each) => each.endsWith('.jsonl') && each.includes(safeLabel(label)))) {
    const tape = await summarizeTape(join(folder, name)).catch(() => undefined)
    if (tape?.meta.label === label) tapes.push(tape)
  }
  const captures = await liveCaptures(registryFolderIn(dataFolder))
  const rows = joinSegments(tapes, placeOf).map((group) => rowOf(group, captures))
  rows.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))
  let sizeBytes = 0
  const gone = rows.filter((row, i) => {
    sizeBytes += row.sizeBytes
    if (row.state === 'live' || i === 0) return false
    return nowMs - Date.parse(row.startedAt) > keep.ageMs || sizeBytes > keep.sizeBytes
  })
  const mayDelete = await mayDeleteNow()
  const deleted = gone.filter(({ files }) => mayDelete(files))
  for (const { files } of deleted) {
    const why = await deleteRecording(files, dataFolder)
    if (why !== undefined) throw new Error(why)
  }
  return deleted
}
