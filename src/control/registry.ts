import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A capture that runs now, as its entry in the registry says. */
export interface LiveCapture {
  /** Session UUID. */
  readonly session: string
  readonly pid: number
  /** Tells a process from a later one with the same pid; null where the system does not say. */
  readonly processStart: string | null
  readonly label: string
  readonly tape: string
  readonly startedAt: string
  /** Where it can be attached to, once it can. */
  readonly socket?: string
}

/** A registry entry, removed by its owner. */
export interface Registration {
  /** It can be attached to. False when nobody will find it. */
  listens(socket: string): boolean
  close(): void
}

/**
 * Makes a capture known to `wiretape ls`. A registry that cannot be written never stops a recording.
 *
 * @param folder private folder of the registry, which exists
 */
export function registerCapture(
  folder: string,
  capture: Omit<LiveCapture, 'pid' | 'processStart' | 'socket'>,
): Registration {
  const path = join(folder, `${capture.session}.json`)
  const entry: LiveCapture = { ...capture, pid: process.pid, processStart: processStart(process.pid) }
  try {
    writeFileSync(path, JSON.stringify(entry), { flag: 'wx', mode: 0o600 })
  } catch {
    unlinkQuietly(path)
  }
  let closed = false
  return {
    listens(socket) {
      if (closed) return true
      const beside = `${path}.new`
      try {
        writeFileSync(beside, JSON.stringify({ ...entry, socket }), { mode: 0o600 })
        renameSync(beside, path)
        return true
      } catch {
        unlinkQuietly(beside)
        return false
      }
    },
    close() {
      closed = true
      unlinkQuietly(path)
    },
  }
}

function unlinkQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It says who made it: whoever reads it finds that process gone.
  }
}

/** The captures whose process is alive. Entries of dead ones are removed on the way. */
export async function liveCaptures(folder: string): Promise<LiveCapture[]> {
  const names = await readdir(folder).catch(() => [])
  const live: LiveCapture[] = []
  for (const name of names.filter((file) => file.endsWith('.json'))) {
    const path = join(folder, name)
    const entry = await readFile(path, 'utf8').then(parseEntry, () => undefined)
    if (entry && isAlive(entry)) live.push(entry)
    // An entry that cannot be read yet may be one that is just being written.
    else if (entry) {
      await rm(path, { force: true }).catch(() => undefined)
      if (entry.socket !== undefined) await removeSocket(entry.socket)
    }
  }
  return live.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
}

/** What the entry of a dead capture names is removed only if it is a socket: anybody may have written the entry. */
async function removeSocket(path: string): Promise<void> {
  const info = await lstat(path).catch(() => undefined)
  if (info?.isSocket()) await rm(path, { force: true }).catch(() => undefined)
}

function parseEntry(text: string): LiveCapture | undefined {
  try {
    const entry = JSON.parse(text) as Partial<LiveCapture>
    return typeof entry.pid === 'number' &&
      typeof entry.tape === 'string' &&
      typeof entry.session === 'string'
      ? (entry as LiveCapture)
      : undefined
  } catch {
    return undefined
  }
}

function isAlive(entry: LiveCapture): boolean {
  try {
    process.kill(entry.pid, 0)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return entry.processStart === null || entry.processStart === processStart(entry.pid)
}

/** Start time in clock ticks since boot (proc(5), field 22), or null off Linux. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
