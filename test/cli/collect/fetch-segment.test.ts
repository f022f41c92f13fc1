import { readFileSync } from 'node:fs'
import type * as Files from 'node:fs/promises'
import { expect, it, vi } from 'vitest'
import { fetchSegment } from '../../../src/cli/collect/fetch-segment.js'
import { segmentKey } from '../../../src/ship/index.js'
import { folderStore, newFolder, sealed, tapeOf } from './collected.js'

// A disk that takes no more than 100 bytes at a time.
vi.mock('node:fs/promises', async (original) => {
  const files = await original<typeof Files>()
  return {
    ...files,
    async open(...given: Parameters<typeof Files.open>) {
      const file = await files.open(...given)
      const write = file.write.bind(file) as (bytes: Uint8Array, at: number, length: number) => unknown
      const short = (bytes: Uint8Array, at = 0) => write(bytes, at, Math.min(100, bytes.length - at))
      return Object.assign(file, { write: short })
    },
  }
})

it('a segment is fetched whole by a disk that takes writes in parts', async () => {
  const tape = tapeOf(5)
  const { manifest, packed } = sealed(tape)
  const store = {
    ...(await folderStore()),
    async *get(key: string) {
      expect(key).toBe(segmentKey(manifest))
      yield packed
    },
  }
  const fetched = await fetchSegment(store, manifest, newFolder())
  expect(readFileSync(fetched.plain, 'utf8')).toBe(tape)
  expect(readFileSync(fetched.packed).equals(packed)).toBe(true)
})

it('a segment of any size is fetched', async () => {
  const { manifest, packed } = sealed(tapeOf(1))
  const store = await folderStore()
  await store.put(segmentKey(manifest), packed)
  const fetched = await fetchSegment(store, { ...manifest, bytes: 3 * 2 ** 30 }, newFolder())
  expect(fetched.packedBytes).toBe(packed.length)
})

it('a download that is abandoned ends at the store too', async () => {
  const { manifest, packed } = sealed(tapeOf(1))
  let hasEnded = false
  const store = {
    ...(await folderStore()),
    async *get() {
      try {
        yield packed
        yield packed
      } finally {
        hasEnded = true
      }
    },
  }
  const small = { ...manifest, compressedBytes: 10 }
  await expect(fetchSegment(store, small, newFolder())).rejects.toThrow('larger than its manifest states')
  expect(hasEnded).toBe(true)
})
