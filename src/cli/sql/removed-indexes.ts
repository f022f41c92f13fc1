import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Where the indexes of the recordings in a data folder stand. */
export function indexFolderIn(dataFolder: string): string {
  return join(dataFolder, 'index')
}

/** First part of the names of a recording's indexes. @param path of its first file */
export function indexKey(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32)
}

/** Deletes the indexes of a recording that is deleted: they hold names and error messages of it. @param files of the recording */
export function removeIndexes(files: readonly string[], dataFolder: string): void {
  const folder = indexFolderIn(dataFolder)
  const key = indexKey(files[0]!)
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return
  }
  for (const name of names) if (name.startsWith(`${key}.`)) rmSync(join(folder, name), { force: true })
}
