import { expect, it } from 'vitest'
import { indexedKey } from '../../../src/cli/collect/keys.js'
import { createLagMeter } from '../../../src/cli/collect/lag.js'
import { openStoreSource } from '../../../src/cli/collect/store-source.js'
import { manifestKey, segmentKey, type ObjectStore } from '../../../src/ship/index.js'
import { collectorOf, folderStore, sealed, tapeOf } from './collected.js'

const shippedMs = Date.parse('2026-08-01T10:01:00.000Z')

/** A store without a bus that can be away, and a clock. */
async function stage() {
  const folder = await folderStore()
  let isAway = false
  const mayFail = <T>(work: () => T): T => {
    if (isAway) throw new Error('away')
    return work()
  }
  const store: ObjectStore = { ...folder, put: async (...given) => mayFail(() => folder.put(...given)) }
  const isKnown = async (key: string): Promise<boolean> =>
    mayFail(async () => (await folder.head(key)) !== undefined)
  const source = await openStoreSource(folder.address, {}, isKnown)
  let nowMs = shippedMs
  return {
    collector: collectorOf(source, store, { isSameStore: true }).collector,
    lagNow: createLagMeter(source, () => nowMs),
    ship: async (calls: number, shippedAt = new Date(shippedMs).toISOString()) => {
      const { manifest, packed } = sealed(tapeOf(calls), { shippedAt })
      await folder.put(segmentKey(manifest), packed)
      await folder.put(manifestKey(manifest.hash), Buffer.from(JSON.stringify(manifest)))
      return manifest.hash
    },
    index: (hash: string) => folder.put(indexedKey(hash), Buffer.from('batch')),
    setAway: (value: boolean) => (isAway = value),
    wait: (ms: number) => (nowMs += ms),
  }
}

it('measures the age of the oldest segment without an index, which grows while the store refuses', async () => {
  const { collector, lagNow, ship, setAway, wait } = await stage()
  expect(await lagNow()).toEqual({ segments: 0, ms: 0 })
  await ship(1)
  await ship(2, new Date(shippedMs - 5_000).toISOString())
  await collector.step(0)
  wait(1_000)
  expect(await lagNow()).toEqual({ segments: 2, ms: 6_000 })
  setAway(true)
  await collector.commit()
  wait(60_000)
  expect(await lagNow()).toEqual({ segments: 2, ms: 66_000 })
  // The next pass fails too: nobody knows what waits.
  await collector.step(0)
  wait(60_000)
  expect(await lagNow()).toEqual({ segments: 2, ms: 126_000 })
  setAway(false)
  await collector.step(0)
  await collector.commit()
  expect(await lagNow()).toEqual({ segments: 0, ms: 0 })
  wait(60_000)
  expect(await lagNow()).toEqual({ segments: 0, ms: 0 })
})

it('counts from the last answer of a source without a backlog that no longer answers', async () => {
  let nowMs = 0
  let answer = async () => ({ segments: 0, oldestMs: undefined })
  const lagNow = createLagMeter({ backlog: () => answer() }, () => nowMs)
  nowMs = 1_000
  expect(await lagNow()).toEqual({ segments: 0, ms: 0 })
  answer = () => Promise.reject(new Error('away'))
  nowMs = 31_000
  expect(await lagNow()).toEqual({ segments: 0, ms: 30_000 })
})

it('forgets segments that another collector indexed', async () => {
  const { collector, lagNow, ship, index } = await stage()
  const hash = await ship(1)
  await collector.step(0)
  expect(await lagNow()).toMatchObject({ segments: 1 })
  await index(hash)
  await collector.step(0)
  expect(await lagNow()).toEqual({ segments: 0, ms: 0 })
})
