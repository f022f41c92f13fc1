import { basename } from 'node:path'
import { createRecent } from '../../model/index.js'
import { setTimeout } from 'node:timers/promises'
import { bytesOf, decodeManifest, openStore, type ObjectStore } from '../../ship/index.js'
import { deadKey, indexedKey } from './keys.js'
import type { Backlog, Delivery, SegmentSource } from './source.js'

/** Failing segments with a remembered number of attempts. */
const mostRemembered = 10_000

type IsKnown = (key: string) => Promise<boolean>

/**
 * Segments of a store that recorders write to without a bus. Each poll lists all and checks for each whether `to` has it.
 *
 * @param isKnown whether the target has this segment in its index, or among its dead letters
 */
export async function openStoreSource(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  isKnown: IsKnown,
): Promise<SegmentSource> {
  const store = await openStore(address, env)
  const attempts = createRecent<number>({ entries: mostRemembered })
  let listing: AsyncIterator<string> | undefined
  const found = new Found()
  let failure: unknown

  async function nextOf(most: number): Promise<Delivery[]> {
    listing ??= missing(store, isKnown, found)[Symbol.asyncIterator]()
    const deliveries: Delivery[] = []
    while (deliveries.length < most) {
      const { value, done } = await listing.next().catch((error: unknown) => {
        // The next pass starts again: after an error, this one would only say that it ended.
        listing = undefined
        throw error
      })
      if (done === true) {
        listing = undefined
        break
      }
      try {
        deliveries.push(await deliveryOf(value, store, attempts, found))
      } catch (error) {
        // The others are delivered; in the next pass, nothing precedes it.
        if (deliveries.length === 0) throw error
        break
      }
    }
    return deliveries
  }

  return {
    store,
    isQueue: false,
    workingMs: 60_000,
    async next(most, waitMs) {
      const deliveries = await nextOf(most).catch((error: unknown) => {
        failure = error
        throw error
      })
      failure = undefined
      if (deliveries.length === 0) await setTimeout(waitMs)
      return deliveries
    },
    async waiting() {
      for await (const _ of missing(store, isKnown, found)) return 1
      return 0
    },
    async backlog() {
      if (failure !== undefined) throw failure
      return found.backlog()
    },
    async close() {
      // Not awaited: a store that does not answer would hold up the end.
      listing?.return?.().catch(() => undefined)
      await store.close()
    },
  }
}

/** @param attempts counts deliveries by key */
async function deliveryOf(
  key: string,
  store: ObjectStore,
  attempts: ReturnType<typeof createRecent<number>>,
  found: Found,
): Promise<Delivery> {
  const attempt = (attempts.get(key) ?? 0) + 1
  attempts.set(key, attempt)
  const manifest = await bytesOf(store.get(key))
  found.add(key, manifest)
  return {
    manifest,
    hash: basename(key, '.json'),
    attempt,
    async done() {
      attempts.delete(key)
      found.delete(key)
    },
    again: () => undefined,
    working: () => undefined,
  }
}

/** Keys of manifests without an index. At the end, segments that other collectors indexed no longer count as found. */
async function* missing(store: ObjectStore, isKnown: IsKnown, found: Found): AsyncGenerator<string> {
  const gone = found.keys()
  for await (const { key } of store.list('segments/')) {
    const hash = /^segments\/[0-9a-f]{2}\/([0-9a-f]{64})\.json$/.exec(key)?.[1]
    if (hash === undefined) continue
    if ((await isKnown(indexedKey(hash))) || (await isKnown(deadKey(hash)))) continue
    gone.delete(key)
    yield key
  }
  for (const key of gone) found.delete(key)
}

/** Segments that were found and are not in the index. */
class Found {
  readonly #shippedMs = new Map<string, number>()

  keys(): Set<string> {
    return new Set(this.#shippedMs.keys())
  }

  add(key: string, manifest: Uint8Array): void {
    if (this.#shippedMs.has(key)) return
    const shippedMs = Date.parse(decodeManifest(Buffer.from(manifest).toString())?.shippedAt ?? '')
    this.#shippedMs.set(key, Number.isNaN(shippedMs) ? Date.now() : shippedMs)
  }

  delete(key: string): void {
    this.#shippedMs.delete(key)
  }

  backlog(): Backlog {
    let oldestMs: number | undefined
    for (const ms of this.#shippedMs.values()) oldestMs = Math.min(oldestMs ?? ms, ms)
    return { segments: this.#shippedMs.size, oldestMs }
  }
}
