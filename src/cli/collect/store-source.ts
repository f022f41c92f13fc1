import { basename } from 'node:path'
import { createRecent } from '../../model/index.js'
import { setTimeout } from 'node:timers/promises'
import { bytesOf, openStore } from '../../ship/index.js'
import { deadKey, indexedKey } from './keys.js'
import type { Delivery, SegmentSource } from './source.js'

/** Failing segments with a remembered number of attempts. */
const mostRemembered = 10_000

/**
 * Segments of a store that recorders write to without a bus. Each poll lists all and checks for each whether `to` has it.
 *
 * @param isDone whether the target has this segment in its index, or among its dead letters
 */
export async function openStoreSource(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  isKnown: (key: string) => Promise<boolean>,
): Promise<SegmentSource> {
  const store = await openStore(address, env)
  const attempts = createRecent<number>({ entries: mostRemembered })
  let listing: AsyncIterator<string> | undefined

  async function* missing(): AsyncGenerator<string> {
    for await (const { key } of store.list('segments/')) {
      const hash = /^segments\/[0-9a-f]{2}\/([0-9a-f]{64})\.json$/.exec(key)?.[1]
      if (hash === undefined) continue
      if ((await isKnown(indexedKey(hash))) || (await isKnown(deadKey(hash)))) continue
      yield key
    }
  }

  async function deliveryOf(key: string): Promise<Delivery> {
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    return {
      manifest: await bytesOf(store.get(key)),
      hash: basename(key, '.json'),
      attempt,
      async done() {
        attempts.delete(key)
      },
      again: () => undefined,
      working: () => undefined,
    }
  }

  return {
    store,
    isQueue: false,
    workingMs: 60_000,
    async next(most, waitMs) {
      listing ??= missing()[Symbol.asyncIterator]()
      const found: Delivery[] = []
      while (found.length < most) {
        const { value, done } = await listing.next()
        if (done === true) {
          listing = undefined
          break
        }
        found.push(await deliveryOf(value))
      }
      if (found.length === 0) await setTimeout(waitMs)
      return found
    },
    async waiting() {
      for await (const _ of missing()) return 1
      return 0
    },
    close: () => store.close(),
  }
}
