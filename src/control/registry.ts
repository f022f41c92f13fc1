import { readFileSync, readlinkSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { lstat, readdir, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'

/** A running capture, as listed in the registry. */
export interface LiveCapture {
  /** Session UUID. */
  readonly session: string
  readonly pid: number
  /** Distinguishes a process from a later one with the same pid; null if the system provides no start time. */
  readonly processStart: string | null
  /** Machine or container of the process: its pid means nothing to others, which may share the data folder. */
  readonly machine?: string
  readonly label: string
  readonly tape: string
  readonly startedAt: string
  /** Control socket, once it listens. */
  readonly socket?: string
}

/** An entry's file is touched at this interval, ... */
const touchMs = 300_000
/** ... since a process of another machine counts as gone when its entry was not touched for this long. */
const goneMs = 1_800_000

/** A registry entry, removed by its owner. */
export interface Registration {
  /** Adds the control socket to the entry. False if that fails: no program will find it. */
  listens(socket: string): boolean
  close(): void
}

/**
 * Lists a capture for `wiretape ls`. An unwritable registry never stops a recording.
 *
 * @param folder existing private folder of the registry
 */
export function registerCapture(
  folder: string,
  capture: Omit<LiveCapture, 'pid' | 'processStart' | 'machine' | 'socket'>,
): Registration {
  const path = join(folder, `${capture.session}.json`)
  let entry: LiveCapture = {
    ...capture,
    pid: process.pid,
    processStart: processStart(process.pid),
    machine: thisMachine(),
  }
  const write = (): void => {
    try {
      writeFileSync(path, JSON.stringify(entry), { flag: 'wx', mode: 0o600 })
    } catch {
      unlinkQuietly(path)
    }
  }
  write()
  let closed = false
  const touching = setInterval(() => {
    // Another machine removes it after this one slept for long.
    if (!touchQuietly(path)) write()
  }, touchMs)
  touching.unref()
  return {
    listens(socket) {
      if (closed) return true
      const beside = `${path}.new`
      try {
        const next = { ...entry, socket }
        writeFileSync(beside, JSON.stringify(next), { mode: 0o600 })
        renameSync(beside, path)
        entry = next
        return true
      } catch {
        unlinkQuietly(beside)
        return false
      }
    },
    close() {
      closed = true
      clearInterval(touching)
      unlinkQuietly(path)
    },
  }
}

/** False if the file is missing. */
function touchQuietly(path: string): boolean {
  try {
    const now = new Date()
    utimesSync(path, now, now)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT')
  }
}

function unlinkQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The entry names its process, so readers detect that the process is gone.
  }
}

/** Captures with a live process, also on other machines with the same data folder. Entries of dead processes are removed. */
export async function liveCaptures(folder: string): Promise<LiveCapture[]> {
  const names = await readdir(folder).catch(() => [])
  const live: LiveCapture[] = []
  for (const name of names.filter((file) => file.endsWith('.json'))) {
    const path = join(folder, name)
    const entry = await readFile(path, 'utf8').then(parseEntry, () => undefined)
    const isElsewhere = entry?.machine !== undefined && entry.machine !== thisMachine()
    if (entry && (isElsewhere ? await isTouched(path) : isAlive(entry))) live.push(entry)
    // An unreadable entry may be in the middle of being written.
    else if (entry) {
      await rm(path, { force: true }).catch(() => undefined)
      if (entry.socket !== undefined && !isElsewhere) await removeSocket(entry.socket)
    }
  }
  return live.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
}

/** A dead entry's path is removed only if it is a socket: any program may have written the entry. */
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

async function isTouched(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs < goneMs
}

/** The scope in which pids are unique: a host, or a container of it. */
function thisMachine(): string {
  let pids = ''
  try {
    pids = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has pid namespaces.
  }
  return `${os.hostname()} ${pids}`.trimEnd()
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
