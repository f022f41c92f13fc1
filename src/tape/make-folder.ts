import { dirname } from 'node:path'
import { codeOf, type Disk } from './disk.js'

/** Folders of recordings are for their owner only. */
const folderMode = 0o700

/**
 * Makes a folder and those above it that are missing. Not `mkdir` with `recursive`: that never returns where
 * the system answers ENOENT for a folder whose parent exists, as in /proc (Node 20 to 24).
 *
 * @throws what the file system says
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

/** A path that exists is left to whoever opens a file in it: that says best what is wrong with it. */
function makeOne(path: string, disk: Pick<Disk, 'mkdirSync'>): void {
  try {
    disk.mkdirSync(path, { mode: folderMode })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}
