import fs from 'node:fs'

/** The file system calls of a tape; tests substitute a failing disk. */
export type Disk = Pick<
  typeof fs,
  | 'openSync'
  | 'writeSync'
  | 'ftruncateSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'closeSync'
  | 'mkdirSync'
  | 'unlinkSync'
> & {
  /** Opens a file without a name for writing; undefined where the system cannot. */
  openNameless?(folder: string): number | undefined
}

const { openSync, writeSync, ftruncateSync, fstatSync, fsyncSync, closeSync, mkdirSync, unlinkSync } = fs

export const realDisk: Disk = {
  openSync,
  writeSync,
  ftruncateSync,
  fstatSync,
  fsyncSync,
  closeSync,
  mkdirSync,
  unlinkSync,
  openNameless,
}

/** open(2), O_TMPFILE: Linux only, and not on every file system. Node has no name for the flag. */
function openNameless(folder: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  const { O_DIRECTORY, O_WRONLY } = fs.constants
  try {
    return fs.openSync(folder, 0o20000000 | O_DIRECTORY | O_WRONLY, 0o600)
  } catch {
    return undefined
  }
}

/** True when the disk has no room. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT' || code === quotaCode
}

const quotaCode = 'WIRETAPE_QUOTA'

/** The error for a folder that holds as much as its policy allows. */
export function quotaFull(): Error {
  return Object.assign(new Error(quotaReason), { code: quotaCode })
}

const quotaReason = 'the local quota is full of segments that are not shipped'

/** Code of a system error, such as `ENOSPC`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Short reason why a file cannot be read, without paths. */
export function readReason(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return 'no such file'
    case 'ENOTDIR':
      return 'a part of its path is not a folder'
    case 'EISDIR':
      return 'it is a folder'
    case 'EBADF':
      return 'it is not open for reading'
    default:
      return diskReason(error)
  }
}

/** Whether there is no room, for this user or for all. */
export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** Why the disk refuses data. */
export interface DiskTrouble {
  readonly reason: string
  /** There is no room, so writing can succeed once there is some. */
  readonly isFull: boolean
}

export const tapeRemoved: DiskTrouble = {
  reason: 'the tape file was removed or truncated while it was being written',
  isFull: false,
}

/** @param before words before the reason */
export function troubleOf(error: unknown, before = ''): DiskTrouble {
  return { reason: before + diskReason(error), isFull: isFull(error) }
}

/** Short reason why a write failed, without paths: it is shown on the tape and on a terminal. */
export function diskReason(error: unknown): string {
  const code = codeOf(error)
  switch (code) {
    case 'ENOSPC':
      return 'disk full'
    case 'EDQUOT':
      return 'disk quota exceeded'
    case quotaCode:
      return quotaReason
    case 'EROFS':
      return 'read-only file system'
    case 'EACCES':
    case 'EPERM':
      return 'permission denied'
    case 'ENOENT':
      return 'no such folder'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a file has that name'
    case 'EMFILE':
    case 'ENFILE':
      return 'too many open files'
    case 'EFBIG':
      return 'file size limit reached'
    case undefined:
      return error instanceof Error ? error.message : String(error)
    default:
      return `disk error ${code}`
  }
}
