import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { batchesIn, namesIn, removeBatch } from './batch-list.js'

/** Folder of the indexes of a data folder's recordings. */
export function indexFolderIn(dataFolder: string): string {
  return join(dataFolder, 'index')
}

/** Name prefix of a recording's indexes. @param path of its first file */
export function indexKey(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32)
}

/** Deletes the indexes of a deleted recording, since they hold its names and error messages. @param files of the recording */
export function removeIndexes(files: readonly string[], dataFolder: string): void {
  const folder = indexFolderIn(dataFolder)
  for (const { name, parts } of batchesIn(folder))
    if (parts.some(({ path }) => path === files[0])) removeBatch(folder, name)
  const key = indexKey(files[0]!)
  for (const name of namesIn(folder))
    if (name.startsWith(`${key}.`)) rmSync(join(folder, name), { force: true })
}
