import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeJson, escapeText, formatBytes } from '../../render/index.js'
import { recordingsIn } from '../data-folder.js'
import { deleteRecording } from '../delete-recording.js'
import { exitCode } from '../exit-codes.js'
import { rowsIn, type Row } from '../folder-rows.js'
import type { Io } from '../io.js'
import { mayDeleteNow } from '../may-delete.js'
import { tableText } from '../table.js'

export interface PruneOptions {
  /** Milliseconds. */
  readonly olderThan?: number
  /** Bytes. */
  readonly keepSize?: number
  readonly label?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

export async function runPrune(options: PruneOptions, io: Io): Promise<number> {
  const { olderThan = Infinity, keepSize = Infinity, label, dryRun = false } = options
  if (olderThan === Infinity && keepSize === Infinity) {
    throw new WiretapeError('usage', 'the recordings to delete are needed', {
      hint: 'select them with --older-than 30d, --keep-size 5GB or both',
    })
  }
  const all = await rowsIn(recordingsIn(io.dataFolder), io)
  const rows = label === undefined ? all : all.filter((row) => row.label === label)
  const mayDelete = await mayDeleteNow()
  const candidates = beyond(rows, olderThan, keepSize, Date.now())
  const gone = candidates.filter(({ files }) => mayDelete(files))
  if (gone.length < candidates.length) {
    const count = candidates.length - gone.length
    await io.complain(`${countOf(count, 'recording')} not shipped yet: kept by the policy`, 'wiretape ship')
  }
  const deleted: Row[] = []
  let failed = false
  for (const row of gone) {
    const why = dryRun ? undefined : await deleteRecording(row.files, io.dataFolder)
    if (why === undefined) deleted.push(row)
    else {
      failed = true
      await io.complain(why)
    }
  }
  const kept = rows.filter((row) => !deleted.includes(row))
  if (options.json) await io.write(pruneJson(deleted, kept, dryRun), 'data')
  else await io.write(told(deleted, kept, dryRun, io))
  return failed ? exitCode.usage : exitCode.done
}

/** Oldest first. Live recordings count and stay. */
export function beyond(rows: readonly Row[], ageMs: number, sizeBytes: number, nowMs: number): Row[] {
  let size = 0
  const newestFirst = rows
    .map((row) => ({ row, endedMs: endOf(row) }))
    .toSorted(
      (a, b) => Number(b.row.state === 'live') - Number(a.row.state === 'live') || b.endedMs - a.endedMs,
    )
  return newestFirst
    .filter(({ row, endedMs }) => {
      const stays = row.state === 'live' || (nowMs - endedMs <= ageMs && size + row.sizeBytes <= sizeBytes)
      // After the first one over the limit, older ones go too, even smaller ones.
      size += row.sizeBytes
      return !stays
    })
    .map(({ row }) => row)
    .toReversed()
}

/** End of the recording; for a truncated one, its last write. */
function endOf({ startedAt, durationMs, files }: Row): number {
  const ended = durationMs === null ? NaN : Date.parse(startedAt) + durationMs
  return Number.isNaN(ended) ? (statSync(files.at(-1)!, { throwIfNoEntry: false })?.mtimeMs ?? 0) : ended
}

function sizeOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}

/** See docs/schemas/prune.schema.json. */
function pruneJson(deleted: readonly Row[], kept: readonly Row[], dryRun: boolean): string {
  const json = {
    version: 1,
    dryRun,
    deleted: deleted.map(({ files, label, startedAt, sizeBytes }) => ({
      files,
      label,
      startedAt,
      sizeBytes,
    })),
    deletedBytes: sizeOf(deleted),
    kept: kept.length,
    keptBytes: sizeOf(kept),
  }
  return `${escapeJson(JSON.stringify(json, null, 2))}\n`
}

function told(deleted: readonly Row[], kept: readonly Row[], dryRun: boolean, io: Io): string {
  const style = createStyle(io.colours)
  const table = tableText(
    [
      { name: 'started (UTC)', texts: deleted.map(({ startedAt }) => shownTime(startedAt)), side: 'right' },
      { name: 'size', texts: deleted.map(({ sizeBytes }) => formatBytes(sizeBytes)), side: 'left' },
      { name: 'file', texts: deleted.map(({ files }) => escapeText(basename(files[0]!))), side: 'right' },
    ],
    { style, columns: io.columns },
  )
  const verb = dryRun ? 'would be deleted' : 'deleted'
  const what = `${countOf(deleted.length, 'recording')} (${formatBytes(sizeOf(deleted))}) ${verb}`
  const rest = `${countOf(kept.length, 'recording')} (${formatBytes(sizeOf(kept))}) ${kept.length === 1 ? 'stays' : 'stay'}`
  return `${deleted.length === 0 ? '' : table}${style.dim(`${what}, ${rest}`)}\n`
}

function shownTime(startedAt: string): string {
  return escapeText(startedAt.slice(0, 19).replace('T', ' '))
}
