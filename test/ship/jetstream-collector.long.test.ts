import { afterEach, describe, expect, it, vi } from 'vitest'
import { openNatsSource } from '../../src/cli/collect/nats-source.js'
import {
  bytesOf,
  manifestKey,
  openStore,
  segmentKey,
  type JetStreamStore,
  type ObjectStore,
} from '../../src/ship/index.js'
import { leftOut } from '../behaviour/run-cli.js'
import { hasServer, useJetStream } from './jetstream-stage.js'
import { collectorOf, folderStore, sealed, tapeOf } from '../cli/collect/collected.js'
import { keysOf, rowsOf } from '../cli/collect/indexed-rows.js'

describe.skipIf(leftOut(hasServer, 'JetStream, which needs nats-server'))('JetStream as a store', () => {
  const store = useJetStream()
  const buckets: JetStreamStore[] = []
  afterEach(async () => {
    for (const bucket of buckets.splice(0)) await bucket.close()
  })
  async function otherBucket(name: string): Promise<JetStreamStore> {
    const bucket = (await openStore(store().address.replace(/[^/]*$/, name), {})) as JetStreamStore
    buckets.push(bucket)
    return bucket
  }

  it('bounds its announcements, and collectors repeat those of waiting segments that were dropped', async () => {
    await store().ensureStream()
    await store().manager.streams.purge('WIRETAPE')
    const { config } = await store().manager.streams.info('WIRETAPE')
    expect(config).toMatchObject({ max_age: 7 * 86_400e9, max_bytes: 2 ** 28, discard: 'old' })
    const tapes = [sealed(tapeOf(1)), sealed(tapeOf(2)), sealed(tapeOf(3))]
    for (const [i, { manifest, packed }] of tapes.entries()) {
      await store().put(segmentKey(manifest), packed)
      await store().put(manifestKey(manifest.hash), Buffer.from(JSON.stringify(manifest)))
      if (i === 0) await store().announce!('h', manifest.hash, Buffer.from(JSON.stringify(manifest)), true)
    }
    const { target, complaints } = await collected(store().address)
    expect(complaints).toEqual([])
    expect(await rowsOf(target)).toHaveLength(12)
    expect(await keysOf(store(), 'segments/')).toEqual([])
  })

  it('repeats an announcement by the clock of the server, whatever that of the recorder', async () => {
    await store().ensureStream()
    const stored = async (nowMs: number, messages: number): Promise<void> => {
      const { manifest } = sealed(tapeOf(messages))
      vi.useFakeTimers({ toFake: ['Date'], now: nowMs })
      try {
        await store().put(manifestKey(manifest.hash), Buffer.from(JSON.stringify(manifest)))
      } finally {
        vi.useRealTimers()
      }
    }
    await stored(Date.now() + 86_400_000, 11)
    await stored(Date.now() - 86_400_000, 12)
    const { signal } = new AbortController()
    expect(await store().announceAgain(new Date(Date.now() - 3_600_000), 'earlier', signal)).toBe(0)
    expect(await store().announceAgain(new Date(Date.now() + 3_600_000), 'all', signal)).toBe(2)
    for (const key of await keysOf(store(), 'segments/')) await store().delete(key)
    await store().manager.streams.purge('WIRETAPE')
  })

  it('announces the segments of each bucket apart: collectors of one bucket do not see those of another', async () => {
    const shipTo = async (bucket: string, calls: number): Promise<JetStreamStore> => {
      const bus = await otherBucket(bucket)
      const { manifest, packed } = sealed(tapeOf(calls))
      await bus.put(segmentKey(manifest), packed)
      const text = Buffer.from(JSON.stringify(manifest))
      await bus.put(manifestKey(manifest.hash), text)
      await bus.announce!(manifest.host, manifest.hash, text, true)
      return bus
    }
    const buses = [await shipTo('team-a', 1), await shipTo('team-b', 2)]
    for (const [i, bus] of buses.entries()) {
      const { target, complaints } = await collected(bus.address)
      expect(complaints).toEqual([])
      expect(await rowsOf(target)).toHaveLength(2 * (i + 1))
    }
  })

  it('tells how many segments wait, and since when', async () => {
    const bus = await otherBucket('backlog')
    const source = await openNatsSource(bus.address, {})
    try {
      expect(await source.backlog()).toEqual({ segments: 0, oldestMs: undefined })
      const times: number[] = []
      for (const calls of [1, 2]) {
        const { manifest, packed } = sealed(tapeOf(calls))
        const text = Buffer.from(JSON.stringify(manifest))
        await bus.put(segmentKey(manifest), packed)
        await bus.put(manifestKey(manifest.hash), text)
        times.push(Date.now())
        await bus.announce!(manifest.host, manifest.hash, text, true)
      }
      const [first, second] = times as [number, number]
      const { collector } = collectorOf(source, await folderStore(), { batchSegments: 1 })
      const before = await source.backlog()
      expect(before.segments).toBe(2)
      expect(before.oldestMs).toBeGreaterThanOrEqual(first)
      expect(before.oldestMs).toBeLessThanOrEqual(second)
      const [one] = await source.next(1, 1_000)
      expect(await source.backlog()).toEqual(before)
      await one!.done()
      const after = await source.backlog()
      expect(after.segments).toBe(1)
      expect(after.oldestMs).toBeGreaterThanOrEqual(second)
      await collector.run(new AbortController().signal, true)
      expect(await source.backlog()).toEqual({ segments: 0, oldestMs: undefined })
    } finally {
      await source.close()
    }
  })

  it('knows the segment of an announcement, whatever later versions put into manifests', async () => {
    const bus = await otherBucket('later')
    const { manifest, packed } = sealed(tapeOf(1))
    const { hash, ...others } = manifest
    const text = Buffer.from(JSON.stringify({ ...others, v: 3, digest: hash }))
    await bus.put(segmentKey(manifest), packed)
    await bus.put(manifestKey(hash), text)
    await bus.announce!('h', hash, text, true)
    const { target } = await collected(bus.address)
    expect(await keysOf(bus, '')).toEqual([])
    expect(await keysOf(target, '')).toEqual([`dead/${hash}.json`, `dead/${hash}.segment`])
  })

  it('announces the key of a manifest that is too large for a message', async () => {
    const bus = await otherBucket('large')
    const { manifest, packed } = sealed(tapeOf(2))
    const large = Buffer.from(JSON.stringify({ ...manifest, later: 'x'.repeat(2_000_000) }))
    await bus.put(segmentKey(manifest), packed)
    await bus.put(manifestKey(manifest.hash), large)
    await bus.announce!('h', manifest.hash, large, true)
    const { target } = await collected(bus.address)
    // Much quicker than toEqual.
    expect(Buffer.compare(await bytesOf(target.get(manifestKey(manifest.hash))), large)).toBe(0)
    expect(await rowsOf(target)).toHaveLength(4)
  })
})

/** Collects once: the store that was filled, and the complaints. */
async function collected(address: string): Promise<{ target: ObjectStore; complaints: string[] }> {
  const target = await folderStore()
  const source = await openNatsSource(address, {})
  try {
    const { collector, complaints } = collectorOf(source, target)
    await collector.run(new AbortController().signal, true)
    return { target, complaints }
  } finally {
    await source.close()
  }
}
