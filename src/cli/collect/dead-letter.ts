import { stat } from 'node:fs/promises'
import type { ObjectStore } from '../../ship/index.js'
import { deadBytesKey, deadKey } from './keys.js'

/** Keeps an unreadable segment and the reason, for inspection. */
export async function writeDeadLetter(
  store: ObjectStore,
  letter: {
    readonly hash: string
    readonly reason: string
    readonly manifest: Uint8Array
    /** The segment as received, if any. */
    readonly file: string | undefined
  },
): Promise<void> {
  const { hash, reason, manifest, file } = letter
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined)
  if (found && file !== undefined)
    await store.put(deadBytesKey(hash), { path: file, size: found.size }, { ifAbsent: true })
  const text = {
    v: 1,
    hash,
    reason,
    at: new Date().toISOString(),
    manifest: Buffer.from(manifest).toString('utf8'),
  }
  await store.put(deadKey(hash), Buffer.from(`${JSON.stringify(text)}\n`))
}
