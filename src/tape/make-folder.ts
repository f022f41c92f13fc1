import { dirname } from 'node:path'
import { codeOf, type Disk } from './disk.js'

/** Only the owner can access folders of recordings. */
const folderMode = 0o700

/**
 * Creates a folder and its missing parents. Not `mkdir` with `recursive`: that never returns where the system
 * answers ENOENT for a folder whose parent exists, as in /proc (Node 20 to 24).
 *
 * @returns the topmost folder that it created, as `mkdir` does
 * @throws errors of the file system
 */
export function makeFolder(path: string, disk: Pick<Disk, 'mkdirSync'>): string | undefined {
  try {
    return makeOne(path, disk) ? path : undefined
  } catch (error) {
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error
    const first = makeFolder(parent, disk)
    const isMade = makeOne(path, disk)
    return first ?? (isMade ? path : undefined)
  }
}

/** Accepts any existing path: opening a file in it gives the best error message. */
function makeOne(path: string, disk: Pick<Disk, 'mkdirSync'>): boolean {
  try {
    disk.mkdirSync(path, { mode: folderMode })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}
