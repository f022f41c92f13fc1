import { describe, expect, it } from 'vitest'
import { SegmentReader } from '../../../src/cli/fleet/segment-reader.js'
import { manifestKey, segmentKey, type ObjectStore } from '../../../src/ship/index.js'
import { folderStore, sealed, tapeOf } from './collected.js'

async function stored(tape: string): Promise<{ store: ObjectStore; hash: string; packed: Uint8Array }> {
  const store = await folderStore()
  const { manifest, packed } = sealed(tape)
  await store.put(segmentKey(manifest), packed)
  await store.put(manifestKey(manifest.hash), Buffer.from(JSON.stringify(manifest)))
  return { store, hash: manifest.hash, packed }
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = []
  for await (const piece of pieces) kept.push(piece)
  return Buffer.concat(kept).toString()
}

describe('a reader of segments', () => {
  it('reads any piece with the parts that hold it, and the whole with one request', async () => {
    const tape = tapeOf(40)
    const { store, hash, packed } = await stored(tape)
    const asked: (number | undefined)[] = []
    const reader = new SegmentReader({
      ...store,
      get(key, range) {
        if (key.endsWith('.gz')) asked.push(range?.length)
        return store.get(key, range)
      },
    })
    for (const [start, end] of [
      [0, 10],
      [2_040, 2_060],
      [5_000, 9_000],
    ] as const)
      expect(Buffer.from(await reader.bytes(hash, start, end)).toString()).toBe(tape.slice(start, end))
    expect(asked).toHaveLength(5)
    expect(Math.max(...asked.map((length) => length ?? Infinity))).toBeLessThan(packed.length / 4)
    asked.length = 0
    expect(await textOf(reader.all(hash))).toBe(tape)
    expect(asked).toEqual([undefined])
  })

  it('refuses bytes that do not have the hash of their name', async () => {
    const { store, hash } = await stored(tapeOf(3))
    const other = sealed(tapeOf(3)).packed
    const reader = new SegmentReader({
      ...store,
      get: (key, range) =>
        key.endsWith('.gz')
          ? (async function* () {
              yield other
            })()
          : store.get(key, range),
    })
    await expect(textOf(reader.all(hash))).rejects.toThrow(/hash|manifest says/)
  })
})
