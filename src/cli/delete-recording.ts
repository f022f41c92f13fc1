import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { diskReason, shippedMarkPath } from '../tape/index.js'
import { removeIndexes } from './sql/removed-indexes.js'

/** Deletes the files of a recording and all files derived from it. Returns the reason on failure. */
export async function deleteRecording(
  files: readonly string[],
  dataFolder: string,
): Promise<string | undefined> {
  removeIndexes(files, dataFolder)
  for (const file of files) {
    try {
      await rm(file, { force: true })
      await rm(shippedMarkPath(file), { force: true }).catch(() => undefined)
    } catch (error) {
      return `cannot delete ${basename(file)}: ${diskReason(error)}`
    }
  }
  return undefined
}
