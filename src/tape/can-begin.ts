import { join } from 'node:path'
import { realDisk, type Disk } from './disk.js'
import { makeFolder } from './make-folder.js'

/** Enough for a block of most file systems, and for the first line of most tapes. */
const probeBytes = 4096

/** Whether a tape could begin in a folder now: a file in it can be written. A missing folder is created. */
export function canBegin(folder: string, disk: Disk = realDisk): boolean {
  let fd: number | undefined
  try {
    makeFolder(folder, disk)
    fd = disk.openNameless?.(folder) ?? openUnlinked(folder, disk)
    return disk.writeSync(fd, Buffer.alloc(probeBytes, 'x')) === probeBytes
  } catch {
    return false
  } finally {
    if (fd !== undefined) disk.closeSync(fd)
  }
}

function openUnlinked(folder: string, disk: Disk): number {
  const path = join(folder, `.wiretape-${process.pid}`)
  const fd = disk.openSync(path, 'wx', 0o600)
  disk.unlinkSync(path)
  return fd
}
