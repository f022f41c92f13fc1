import { dirname } from 'node:path'
import { codeOf, type Disk } from './disk.js'

/** Only the owner can access folders of recordings. */
const folderMode = 0o700

/**
 * Creates a folder and its missing parents. Not `mkdir` with `recursive`: that never returns where the system
 * answers ENOENT for a folder whose parent exists, as in /proc (Node 20 to 24).
 *
 * @throws errors of the file system
 */
export function makeFolder(path: string, disk: Pick<Disk, 'mkdirSync'>): void {
  try {
    makeOne(path, disk)
  } catch (error) {
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error
    makeFolder(parent, disk)
    makeOne(path, disk)
  }
}

/** Accepts any existing path: opening a file in it gives the best error message. */
function makeOne(path: string, disk: Pick<Disk, 'mkdirSync'>): void {
  try {
    disk.mkdirSync(path, { mode: folderMode })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}
