import { closeSync, openSync, readFileSync, readSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Incremented when the columns of an index change. */
const layout = 6
/** Names of batches of this layout start with it. */
export const batchPrefix = `rows${layout}-`

/** A recording as part of a batch. */
export interface Part {
  readonly part: string
  /** First file of the recording. */
  readonly path: string
  readonly sizeBytes: number
}

/** Sizes of the two files of a batch, in bytes. */
export interface BatchSizes {
  readonly messages: number
  /** Of the rows without messages. */
  readonly others: number
}

/** Two Parquet files and the recordings in them. Never changes. */
export interface Batch {
  /** Of the file of messages. */
  readonly name: string
  readonly sizes: BatchSizes
  readonly parts: readonly Part[]
}

/** The complete batches of a folder, those of many recordings first. */
export function batchesIn(folder: string): Batch[] {
  return namesIn(folder)
    .filter((name) => name.startsWith(batchPrefix) && name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => {
      const batch = readBatch(join(folder, name))
      return batch && areWhole(folder, batch) ? [batch] : []
    })
    .toSorted((a, b) => b.parts.length - a.parts.length)
}

export function removeBatch(folder: string, name: string): void {
  for (const file of [listOf(name), name, othersOf(name)]) rmSync(join(folder, file), { force: true })
}

/** The list of a batch's recordings. @param name of one of its files */
export function listOf(name: string): string {
  return `${name.replace(/(?:\.others)?\.\w+$/, '')}.json`
}

/** The file of rows without messages. @param name of the file of messages, or its path */
export function othersOf(name: string): string {
  return name.replace(/\.parquet$/, '.others.parquet')
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

function areWhole(folder: string, { name, sizes }: Batch): boolean {
  const path = join(folder, name)
  return isWhole(path, sizes.messages) && isWhole(othersOf(path), sizes.others)
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
