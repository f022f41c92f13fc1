import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { realDisk, type Disk } from './disk.js'

/** More than the first lines of most tapes. */
const probeBytes = 65_536

/** Whether a tape could begin in a folder now: a file can be written there, or where the folder would be made. */
export function canBegin(folder: string, disk: Disk = realDisk): boolean {
  try {
    const existing = nearest(resolve(folder))
    const fd = disk.openNameless?.(existing) ?? openUnlinked(existing, disk)
    try {
      return disk.writeSync(fd, Buffer.alloc(probeBytes, 'x')) === probeBytes
    } finally {
      disk.closeSync(fd)
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

function openUnlinked(folder: string, disk: Disk): number {
  const path = join(folder, `.wiretape-${process.pid}`)
  const fd = disk.openSync(path, 'wx', 0o600)
  disk.unlinkSync(path)
  return fd
}
