import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'

/** An entry as `install` found it, so that `uninstall` restores its bytes. */
export interface LedgerEntry {
  readonly file: string
  /** Member names that lead to the servers. */
  readonly servers: readonly string[]
  readonly name: string
  readonly client: string
  /** Folder, for a project's file. */
  readonly folder?: string
  readonly original: string
  readonly wrapped: string
  readonly at: string
}

/** Currently installed entries, in `installed.json` of the data folder (0600: entries may hold secrets). */
export interface Ledger {
  find(file: string, servers: readonly string[], name: string): LedgerEntry | undefined
  put(entry: LedgerEntry): void
  /** Folders of projects with installed servers. */
  folders(): string[]
  forget(file: string, servers: readonly string[], name: string): void
  save(): Promise<void>
}

/** A missing or damaged file is an empty ledger: entries can be removed without it. */
export async function openLedger(dataFolder: string): Promise<Ledger> {
  const path = join(dataFolder, 'installed.json')
  let entries = await readEntries(path)
  let changes: ((to: typeof entries) => void)[] = []
  const change = (make: (to: typeof entries) => void): void => {
    make(entries)
    changes.push(make)
  }
  return {
    find: (file, servers, name) => entries.get(keyOf(file, servers, name)),
    put: (entry) => change((to) => to.set(keyOf(entry.file, entry.servers, entry.name), entry)),
    folders: () => [...new Set([...entries.values()].flatMap(({ folder }) => folder ?? []))],
    forget: (file, servers, name) => change((to) => to.delete(keyOf(file, servers, name))),
    async save() {
      await mkdir(dataFolder, { recursive: true, mode: 0o700 })
      // Another install may have saved in the meantime.
      entries = await readEntries(path)
      for (const make of changes) make(entries)
      changes = []
      const copy = `${path}.${process.pid}.tmp`
      const handle = await open(copy, 'w', 0o600)
      await handle.writeFile(`${JSON.stringify({ version: 1, entries: [...entries.values()] }, null, 2)}\n`)
      await handle.sync()
      await handle.close()
      await rename(copy, path)
    },
  }
}

function keyOf(file: string, servers: readonly string[], name: string): string {
  return JSON.stringify([file, servers, name])
}

async function readEntries(path: string): Promise<Map<string, LedgerEntry>> {
  try {
    const data: unknown = JSON.parse(await readFile(path, 'utf8'))
    const list = typeof data === 'object' && data !== null && 'entries' in data ? data.entries : []
    const known = Array.isArray(list) ? list.filter(isEntry) : []
    return new Map(known.map((entry) => [keyOf(entry.file, entry.servers, entry.name), entry]))
  } catch {
    return new Map()
  }
}

function isEntry(value: unknown): value is LedgerEntry {
  if (typeof value !== 'object' || value === null) return false
  const entry = value as Record<string, unknown>
  const texts = ['file', 'name', 'client', 'original', 'wrapped', 'at'].every(
    (key) => typeof entry[key] === 'string',
  )
  if (entry['folder'] !== undefined && typeof entry['folder'] !== 'string') return false
  return texts && Array.isArray(entry['servers']) && entry['servers'].every((key) => typeof key === 'string')
}
