import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'

/** An entry as `install` found it, so that `uninstall` restores its bytes. */
export interface LedgerEntry {
  readonly file: string
  /** Member names that lead to the servers. */
  readonly servers: readonly string[]
  readonly name: string
  readonly client: string
  readonly original: string
  readonly wrapped: string
  readonly at: string
}

/** The entries that are installed now, in `installed.json` of the data folder (0600: entries may hold secrets). */
export interface Ledger {
  find(file: string, servers: readonly string[], name: string): LedgerEntry | undefined
  put(entry: LedgerEntry): void
  forget(file: string, servers: readonly string[], name: string): void
  save(): Promise<void>
}

/** A file that is missing or damaged is an empty ledger: entries can be taken out without it. */
export async function openLedger(dataFolder: string): Promise<Ledger> {
  const path = join(dataFolder, 'installed.json')
  const entries = new Map<string, LedgerEntry>()
  for (const entry of await readEntries(path))
    entries.set(keyOf(entry.file, entry.servers, entry.name), entry)
  return {
    find: (file, servers, name) => entries.get(keyOf(file, servers, name)),
    put: (entry) => void entries.set(keyOf(entry.file, entry.servers, entry.name), entry),
    forget: (file, servers, name) => void entries.delete(keyOf(file, servers, name)),
    async save() {
      await mkdir(dataFolder, { recursive: true, mode: 0o700 })
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

async function readEntries(path: string): Promise<LedgerEntry[]> {
  try {
    const data: unknown = JSON.parse(await readFile(path, 'utf8'))
    const list = typeof data === 'object' && data !== null && 'entries' in data ? data.entries : []
    return Array.isArray(list) ? list.filter(isEntry) : []
  } catch {
    return []
  }
}

function isEntry(value: unknown): value is LedgerEntry {
  if (typeof value !== 'object' || value === null) return false
  const entry = value as Record<string, unknown>
  const texts = ['file', 'name', 'client', 'original', 'wrapped', 'at'].every(
    (key) => typeof entry[key] === 'string',
  )
  return texts && Array.isArray(entry['servers']) && entry['servers'].every((key) => typeof key === 'string')
}
