import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { realDisk, type Disk } from './disk.js'
import { closeQuietly, openNamelessFile } from './nameless-file.js'

/** More than the first lines of most tapes. */
const probeBytes = 65_536

/** Whether a tape could begin in a folder now: a file can be written there, or where the folder would be made. */
export function canBegin(folder: string, disk: Disk = realDisk): boolean {
  try {
    const fd = openNamelessFile(join(nearest(resolve(folder)), `.wiretape-${process.pid}`), disk)
    try {
      return disk.writeSync(fd, Buffer.alloc(probeBytes, 'x')) === probeBytes
    } finally {
      closeQuietly(fd, disk)
    }
  } catch {
    return false
  }
}

/** The folder, or its nearest parent that exists. */
function nearest(folder: string): string {
  const exists = statSync(folder, { throwIfNoEntry: false }) !== undefined
  return exists || dirname(folder) === folder ? folder : nearest(dirname(folder))
}
