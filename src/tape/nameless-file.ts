import { dirname } from 'node:path'
import type { Disk } from './disk.js'

/**
 * Opens a file without a name for writing: when the process ends, its space is free again.
 *
 * @param path name of the file for a moment, where the system makes none without
 * @throws errors of the file system
 */
export function openNamelessFile(path: string, disk: Disk): number {
  const nameless = disk.openNameless?.(dirname(path))
  if (nameless !== undefined) return nameless
  const fd = disk.openSync(path, 'wx', 0o600)
  try {
    disk.unlinkSync(path)
    return fd
  } catch (error) {
    dropFile(fd, path, disk)
    throw error
  }
}

/** Closes a file that is not needed, and removes its name if it still has one. */
export function dropFile(fd: number, path: string, disk: Disk): void {
  closeQuietly(fd, disk)
  try {
    disk.unlinkSync(path)
  } catch {
    // The file has no name any more, as intended.
  }
}

export function closeQuietly(fd: number, disk: Disk): void {
  try {
    disk.closeSync(fd)
  } catch {
    // The descriptor is closed in any case.
  }
}
