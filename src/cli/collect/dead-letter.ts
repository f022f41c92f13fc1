import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { WiretapeError } from '../../model/index.js'
import { bytesOf, decodeManifest, manifestKey, segmentKey, type ObjectStore } from '../../ship/index.js'
import { withoutSilence } from './fetch-segment.js'
import { deadBytesKey, deadKey } from './keys.js'

const letterSchema = z.looseObject({
  v: z.literal(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  reason: z.string(),
  manifest: z.string(),
})

/** A segment that is not in the index, and why. */
export type DeadLetter = z.infer<typeof letterSchema>

/** Names that later versions of a manifest keep. */
const namesSchema = z.looseObject({ hash: letterSchema.shape.hash })

/** The hash in a manifest of any version. */
export function hashIn(manifest: string): string | undefined {
  try {
    return namesSchema.safeParse(JSON.parse(manifest)).data?.hash
  } catch {
    return undefined
  }
}

/**
 * Keeps a segment that cannot be collected: its bytes as stored, the manifest and the reason. Afterwards nothing of it needs to stay
 * at the source.
 *
 * @param from undefined if the bytes are in this store already and stay there
 * @param folder for a temporary copy
 * @returns keys of its objects at the source
 */
export async function writeDeadLetter(
  from: ObjectStore | undefined,
  to: ObjectStore,
  letter: { readonly hash: string; readonly reason: string; readonly manifest: string },
  folder: string,
): Promise<readonly string[]> {
  const { hash, reason, manifest } = letter
  const keys = [manifestKey(hash)]
  for (const key of from ? await bytesKeys(from, hash, manifest) : []) {
    if (from && (await copyObject(from, key, to, deadBytesKey(hash), folder))) keys.push(key)
  }
  const text = { v: 1, hash, reason, at: new Date().toISOString(), manifest }
  await to.put(deadKey(hash), Buffer.from(`${JSON.stringify(text)}\n`))
  return keys
}

/** Where the bytes of a segment may be. A later version may compress them in another way. */
async function bytesKeys(from: ObjectStore, hash: string, manifest: string): Promise<readonly string[]> {
  if (decodeManifest(manifest))
    return (['gzip', 'zstd'] as const).map((encoding) => segmentKey({ hash, encoding }))
  const own = manifestKey(hash)
  const keys: string[] = []
  for await (const { key } of from.list(own.replace(/json$/, ''))) if (key !== own) keys.push(key)
  return keys
}

/** Undefined if it is missing or no letter. */
export async function readDeadLetter(store: ObjectStore, key: string): Promise<DeadLetter | undefined> {
  try {
    return letterSchema.safeParse(JSON.parse(Buffer.from(await bytesOf(store.get(key))).toString('utf8')))
      .data
  } catch (error) {
    if (error instanceof WiretapeError && error.code !== 'unreadable') throw error
    return undefined
  }
}

/** False if there is none. An object with missing parts is copied as far as it can be read. */
async function copyObject(
  from: ObjectStore,
  key: string,
  to: ObjectStore,
  toKey: string,
  folder: string,
): Promise<boolean> {
  const own = await mkdtemp(join(folder, 'dead-'))
  const path = join(own, 'bytes')
  try {
    await pipeline(withoutSilence(from.get(key)), createWriteStream(path, { mode: 0o600 }))
  } catch (error) {
    if (!(error instanceof WiretapeError) || error.code !== 'unreadable') {
      await rm(own, { recursive: true, force: true })
      throw error
    }
  }
  try {
    const size = (await stat(path).catch(() => undefined))?.size ?? 0
    if (size === 0) return false
    await to.put(toKey, { path, size }, { ifAbsent: true })
    return true
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}
