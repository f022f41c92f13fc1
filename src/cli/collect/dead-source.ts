import type { ObjectStore } from '../../ship/index.js'
import { segmentKey } from '../../ship/index.js'
import { readDeadLetter } from './dead-letter.js'
import { deadBytesKey, deadKey, indexedKey } from './keys.js'
import type { Delivery, SegmentSource } from './source.js'

/**
 * The dead letters of a store, each once: for another attempt with a later version, or with more memory. A letter is deleted when its
 * segment is in the index.
 */
export function openDeadSource(store: ObjectStore): SegmentSource {
  const letters = lettersIn(store)
  return {
    store: { ...store, get: (key, range) => deadBytes(store, key, range) },
    isQueue: false,
    workingMs: 60_000,
    async next(most) {
      const found: Delivery[] = []
      while (found.length < most) {
        const { value, done } = await letters.next()
        if (done === true) break
        found.push(value)
      }
      return found
    },
    waiting: async () => 0,
    backlog: async () => ({ segments: 0, oldestMs: undefined }),
    close: async () => undefined,
  }
}

async function* lettersIn(store: ObjectStore): AsyncGenerator<Delivery, undefined> {
  for await (const { key } of store.list('dead/')) {
    const letter = key.endsWith('.json') ? await readDeadLetter(store, key) : undefined
    if (!letter) continue
    const { hash, manifest } = letter
    yield {
      manifest: Buffer.from(manifest),
      hash,
      attempt: 1,
      async done() {
        if (!(await store.head(indexedKey(hash)))) return
        await store.delete(deadKey(hash))
        await store.delete(deadBytesKey(hash))
      },
      again: () => undefined,
      working: () => undefined,
    }
  }
  return undefined
}

/** The bytes of a dead letter by the key of its segment. Of a segment that recorders shipped to this store there is no other copy. */
async function* deadBytes(...[store, key, range]: [ObjectStore, ...Parameters<ObjectStore['get']>]) {
  const hash = /^segments\/[0-9a-f]{2}\/([0-9a-f]{64})\./.exec(key)?.[1]
  const isSegment =
    hash !== undefined &&
    (['gzip', 'zstd'] as const).some((encoding) => segmentKey({ hash, encoding }) === key)
  const isDead = isSegment && (await store.head(deadBytesKey(hash))) !== undefined
  yield* store.get(isDead ? deadBytesKey(hash) : key, range)
}
