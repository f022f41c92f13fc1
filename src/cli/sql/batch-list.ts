import { closeSync, openSync, readFileSync, readSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Incremented when the columns of an index change. */
const layout = 5
/** Names of batches of this layout start with it. */
export const batchPrefix = `rows${layout}-`

/** A recording as part of a batch. */
export interface Part {
  readonly part: string
  /** First file of the recording. */
  readonly path: string
  readonly sizeBytes: number
}

/** A Parquet file and the recordings in it. Never changes. */
export interface Batch {
  readonly name: string
  readonly sizeBytes: number
  readonly parts: readonly Part[]
}

/** The complete batches of a folder, those of many recordings first. */
export function batchesIn(folder: string): Batch[] {
  return namesIn(folder)
    .filter((name) => name.startsWith(batchPrefix) && name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => {
      const batch = readBatch(join(folder, name))
      return batch && isWhole(join(folder, batch.name), batch.sizeBytes) ? [batch] : []
    })
    .toSorted((a, b) => b.parts.length - a.parts.length)
}

export function removeBatch(folder: string, name: string): void {
  for (const file of [listOf(name), name]) rmSync(join(folder, file), { force: true })
}

/** The list of a batch's recordings. @param name of the batch or of its list */
export function listOf(name: string): string {
  return `${name.replace(/\.\w+$/, '')}.json`
}

/** The folder may not exist yet. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Undefined if another process deletes it, or a failing disk truncated it. */
function readBatch(path: string): Batch | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Batch
  } catch {
    return undefined
  }
}

/** Whether a Parquet file is complete. A truncated one, which would make all recordings unreadable, is made again. */
function isWhole(path: string, sizeBytes: number): boolean {
  try {
    const file = openSync(path, 'r')
    try {
      const end = Buffer.alloc(magic.length)
      readSync(file, end, 0, end.length, sizeBytes - end.length)
      return statSync(path).size === sizeBytes && end.equals(magic)
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}
/** Last bytes of a Parquet file. */
const magic = Buffer.from('PAR1')
