import { parquetReadObjects } from 'hyparquet'
import { chooseBatches, readCommit, type BatchCommit } from '../../../src/cli/collect/commit.js'
import { bytesOf, type ObjectStore } from '../../../src/ship/index.js'

export async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix)) keys.push(key)
  return keys.toSorted()
}

export async function commitsOf(store: ObjectStore): Promise<BatchCommit[]> {
  const keys = await keysOf(store, 'index/batches/')
  return Promise.all(keys.map(async (key) => (await readCommit(store, key))!))
}

/** Rows that a reader counts. */
export async function rowsOf(store: ObjectStore): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for (const { commit, skipped } of chooseBatches(await commitsOf(store)))
    for (const { key } of commit.files) {
      const bytes = Uint8Array.from(await bytesOf(store.get(key)))
      const found = (await parquetReadObjects({ file: bytes.buffer })) as Record<string, unknown>[]
      rows.push(...found.filter(({ segment }) => !skipped.includes(String(segment))))
    }
  return rows
}
