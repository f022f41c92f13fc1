import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import os from 'node:os'

/** Temporary files of other machines count as abandoned when they were not written for this long. */
const abandonedMs = 24 * 3_600_000

/** Start of a temporary file's name, or a part of it: the process that writes it, and its machine. */
export function writerTag(): string {
  return `${process.pid}.${machine()}-`
}

/**
 * Whether the writer of a temporary file is dead. A PID means nothing on another machine with the same folder.
 *
 * @param name from `writerTag` on; false without a tag
 */
export async function isAbandoned(path: string, name: string): Promise<boolean> {
  const [, pid = '', writer] = /^(\d+)(?:\.([0-9a-f]{8}))?-/.exec(name) ?? []
  if (!(Number(pid) > 0)) return false
  // Names of earlier versions have no machine.
  if (writer === undefined || writer === machine()) return !isRunning(Number(pid))
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > abandonedMs
}

function machine(): string {
  return createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
