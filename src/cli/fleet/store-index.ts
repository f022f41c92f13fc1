import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, stat, utimes } from 'node:fs/promises'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { WiretapeError } from '../../model/index.js'
import { countOf } from '../../render/index.js'
import type { ObjectStore } from '../../ship/index.js'
import { chooseBatches, readCommit, type BatchCommit } from '../collect/commit.js'
import { commitsPrefix } from '../collect/keys.js'
import type { Io } from '../io.js'
import type { FleetFiles } from './fleet-views.js'

/** Concurrent requests. */
const lanes = 8
/** Cached index files of remote stores. */
const mostCachedBytes = 4 * 1024 ** 3
/** Files used within this time stay: another query may need them. */
const inUseMs = 3_600_000

/** Where copies of files go, and who is told about messages that are missing. */
export type QueryIo = Pick<Io, 'dataFolder' | 'complain'>

/**
 * Local files of a store's index for a query: those of a folder in place, others as copies in the data folder.
 *
 * @param sinceDay skips earlier days
 * @throws WiretapeError `unreadable` if the store has no index
 */
export async function indexFiles(
  store: ObjectStore,
  { dataFolder, complain }: QueryIo,
  sinceDay: string | undefined,
): Promise<FleetFiles> {
  const cache = new FileCache(store, dataFolder)
  const { commits, leftOut } = await commitsOf(store)
  const chosen = chooseBatches(commits)
  if (leftOut > 0)
    await complain(
      `${store.address}: ${countOf(leftOut, 'batch', 'batches')} of the index cannot be read, and ${leftOut === 1 ? 'its' : 'their'} messages are left out`,
      'update wiretape if a newer version wrote it',
    )
  if (chosen.length === 0)
    throw new WiretapeError('unreadable', `${store.address} has no index`, {
      hint: 'create it with wiretape collect (docs/fleet.md)',
    })
  const files = {
    rows: [] as string[],
    sessions: [] as string[],
    skipped: [] as { file: string; segment: string }[],
  }
  await inLanes(chosen, async ({ commit, skipped }) => {
    const place = async (key: string, bytes: number, to: string[]): Promise<void> => {
      const file = await cache.path(key, bytes)
      to.push(file)
      for (const segment of skipped) files.skipped.push({ file, segment })
    }
    await place(commit.sessions.key, commit.sessions.bytes, files.sessions)
    for (const { key, bytes, day } of commit.files)
      if (sinceDay === undefined || day >= sinceDay) await place(key, bytes, files.rows)
  })
  await cache.trim(new Set([...files.rows, ...files.sessions]))
  if (files.rows.length === 0)
    throw new WiretapeError('unreadable', `${store.address} has no messages since ${sinceDay}`)
  return files
}

async function commitsOf(store: ObjectStore): Promise<{ commits: BatchCommit[]; leftOut: number }> {
  const keys: string[] = []
  for await (const { key } of store.list(commitsPrefix)) if (key.endsWith('.json')) keys.push(key)
  const commits: BatchCommit[] = []
  await inLanes(keys, async (key) => {
    const commit = await readCommit(store, key)
    if (commit) commits.push(commit)
  })
  return { commits, leftOut: keys.length - commits.length }
}

/** Runs some requests concurrently. */
export async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

/** Objects as files. Those of a folder are read in place. */
class FileCache {
  readonly #store: ObjectStore
  readonly #folder: string

  constructor(store: ObjectStore, dataFolder: string) {
    this.#store = store
    this.#folder =
      store.kind === 'folder'
        ? store.address
        : join(dataFolder, 'fleet', createHash('sha256').update(store.address).digest('hex').slice(0, 16))
  }

  async path(key: string, bytes: number): Promise<string> {
    if (!isIndexKey(key)) throw new WiretapeError('unreadable', `${this.#store.address}: not an index file`)
    const path = join(this.#folder, ...key.split('/'))
    if (this.#store.kind === 'folder') return path
    const found = await stat(path).catch(() => undefined)
    if (found?.size === bytes) {
      // Cleanup deletes the least recently used first.
      const now = new Date()
      await utimes(path, now, now).catch(() => undefined)
      return path
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const part = `${path}.${process.pid}-${randomUUID()}.part`
    try {
      await pipeline(this.#store.get(key), createWriteStream(part, { mode: 0o600 }))
      await rename(part, path)
    } finally {
      await rm(part, { force: true })
    }
    return path
  }

  /** Deletes the least recently used files beyond the limit. */
  async trim(used: ReadonlySet<string>): Promise<void> {
    if (this.#store.kind === 'folder') return
    const files: { path: string; size: number; usedMs: number }[] = []
    for (const entry of await readdir(this.#folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const found = entry.isFile() ? await stat(path).catch(() => undefined) : undefined
      if (found) files.push({ path, size: found.size, usedMs: found.mtimeMs })
    }
    let total = files.reduce((sum, { size }) => sum + size, 0)
    const unusedSinceMs = Date.now() - inUseMs
    for (const { path, size, usedMs } of files.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (total <= mostCachedBytes) return
      if (used.has(path) || usedMs > unusedSinceMs) continue
      await rm(path, { force: true })
      total -= size
    }
  }
}

/** Commits are untrusted text: only names of index files are accepted. */
function isIndexKey(key: string): boolean {
  return (
    key.startsWith('index/') &&
    key.endsWith('.parquet') &&
    key.split('/').every((part) => /^[\w=-][\w.=-]*$/.test(part))
  )
}
