import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openDeadSource } from '../../../src/cli/collect/dead-source.js'
import { openStoreSource } from '../../../src/cli/collect/store-source.js'
import { escapeName, IndexBatch } from '../../../src/cli/collect/index-batch.js'
import { bytesOf, manifestKey, segmentKey, type ObjectStore } from '../../../src/ship/index.js'
import { WiretapeError } from '../../../src/model/index.js'
import { isLong } from '../../long.js'
import { Bus, collectorOf, folderStore, killedBefore, killedByReading, sealed, tapeOf } from './collected.js'
import { commitsOf, keysOf, rowsOf } from './indexed-rows.js'

afterEach(() => vi.restoreAllMocks())

async function letterOf(store: ObjectStore, hash: string): Promise<Record<string, unknown>> {
  const text = Buffer.from(await bytesOf(store.get(`dead/${hash}.json`))).toString()
  return JSON.parse(text) as Record<string, unknown>
}

describe('a collector', () => {
  it('stores each segment with its manifest, indexes its messages and empties the queue', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const tape = tapeOf(3)
    const one = sealed(tape)
    await bus.ship(one)
    await bus.ship(sealed(tapeOf(2, { label: 'other', day: '2026-08-02' }), { host: 'laptop-2' }))
    const { collector, complaints } = collectorOf(bus.source(), target)
    await collector.run(new AbortController().signal, true)

    expect(complaints).toEqual([])
    expect(collector.counts).toMatchObject({ segments: 2, messages: 10, dead: 0, repeated: 0 })
    expect(bus.length).toBe(0)
    expect(await keysOf(bus.store, 'segments/')).toEqual([])
    const { hash } = one.manifest
    expect(await bytesOf(target.get(`segments/${hash.slice(0, 2)}/${hash}.jsonl.gz`))).toEqual(one.packed)
    const [commit] = await commitsOf(target)
    expect(commit!.files.map(({ key }) => key.slice(0, key.lastIndexOf('/'))).toSorted()).toEqual([
      'index/day=2026-08-01/server=shop',
      'index/day=2026-08-02/server=other',
    ])
    const rows = await rowsOf(target)
    expect(rows).toHaveLength(10)
    const [request] = rows.filter(({ segment, seq }) => segment === hash && seq === 2)
    expect(request).toMatchObject({
      kind: 'request',
      method: 'tools/call',
      subject: 'echo',
      host: 'laptop-1',
      user: 'ann',
    })
    const { payload_start: start, payload_end: end } = request as Record<string, number>
    expect(JSON.parse(Buffer.from(tape).subarray(start, end).toString())).toMatchObject({ id: 1 })
  })

  it('counts every message once, whichever of its operations it is killed before', async () => {
    let kills = 0
    for (let nth = 1; ; nth += isLong ? 1 : 3) {
      const bus = new Bus(await folderStore())
      const target = await folderStore()
      for (let i = 0; i < 2; i += 1) await bus.ship(sealed(tapeOf(i + 1)))
      let wasKilled = false
      const killed = new Promise<void>((resolve) => {
        const kill = (): void => {
          wasKilled = true
          resolve()
        }
        const source = bus.source(killedBefore(nth, bus.store, kill))
        // The kills are counted over both stores: those of the target come at every place, too.
        const first = collectorOf(source, killedBefore(nth, target, kill), { batchSegments: 1 })
        void first.collector.run(new AbortController().signal, true).then(resolve)
      })
      await killed
      const { collector } = collectorOf(bus.source(), target)
      await collector.run(new AbortController().signal, true)
      expect(bus.length).toBe(0)
      expect(await rowsOf(target)).toHaveLength(6)
      expect((await keysOf(target, 'segments/')).filter((key) => key.endsWith('.gz'))).toHaveLength(2)
      if (!wasKilled) break
      kills += 1
    }
    // Segment, manifest, rows, sessions, commit, mark, and the two in the queue; every third in `npm test`.
    expect(kills).toBeGreaterThan(isLong ? 10 : 3)
  })

  it('counts a segment once that two collectors took at the same time', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    await bus.ship(sealed(tapeOf(4)))
    const [one, other] = [collectorOf(bus.source(), target), collectorOf(bus.source(), target)]
    await Promise.all([one.collector.step(0), other.collector.step(0)])
    await Promise.all([one.collector.commit(), other.collector.commit()])
    expect(await commitsOf(target)).toHaveLength(2)
    expect(await rowsOf(target)).toHaveLength(8)
  })

  it('keeps what it cannot read as a dead letter, with the reason, and goes on', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const cut = sealed(tapeOf(3))
    await bus.ship({ manifest: cut.manifest, packed: cut.packed.subarray(0, -20) })
    const wrong = sealed(tapeOf(3))
    await bus.ship({ manifest: { ...wrong.manifest, hash: 'a'.repeat(64) }, packed: wrong.packed })
    const noTape = sealed('<html>\n')
    await bus.ship(noTape)
    const missing = sealed(tapeOf(1)).manifest
    bus.announce(JSON.stringify(missing))
    bus.announce('{"v":2}')
    await bus.ship(sealed(tapeOf(2)))
    const { collector, complaints } = collectorOf(bus.source(), target)
    await collector.run(new AbortController().signal, true)
    expect(bus.length).toBe(0)
    expect(await rowsOf(target)).toHaveLength(4)
    expect(collector.counts.dead).toBe(5)
    expect(complaints).toHaveLength(5)
    const reasons: Record<string, string> = {}
    for (const key of await keysOf(target, 'dead/'))
      if (key.endsWith('.json')) {
        const { hash, reason } = JSON.parse(Buffer.from(await bytesOf(target.get(key))).toString()) as Record<
          string,
          string
        >
        reasons[hash!] = reason!
      }
    expect(reasons).toEqual({
      [cut.manifest.hash]: 'its content does not match the hash in its name',
      ['a'.repeat(64)]: 'its content does not match the hash in its name',
      [noTape.manifest.hash]: 'it is not a tape',
      [missing.hash]: expect.stringContaining('no object'),
      [createHash('sha256').update('{"v":2}').digest('hex')]:
        'its manifest has version 2, and this version of wiretape reads version 1: update the collector',
    })
    expect(await bytesOf(target.get(`dead/${noTape.manifest.hash}.segment`))).toEqual(noTape.packed)
  })

  it('buries a segment that ends every collector that reads it, with its bytes, and no other', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const poison = sealed(tapeOf(3))
    await bus.ship(poison)
    for (let i = 0; i < 5; i += 1) await bus.ship(sealed(tapeOf(1)))
    const key = segmentKey(poison.manifest)
    for (let kills = 0; kills < 4; kills += 1)
      await new Promise<void>((killed) => {
        const { collector } = collectorOf(bus.source(killedByReading(key, bus.store, killed)), target)
        void collector.run(new AbortController().signal, true)
      })
    // This collector would survive if it read the segment.
    await collectorOf(bus.source(), target).collector.run(new AbortController().signal, true)
    expect(await rowsOf(target)).toHaveLength(10)
    const { hash } = poison.manifest
    expect(await letterOf(target, hash)).toMatchObject({
      hash,
      reason: '3 collectors exited while reading it',
    })
    expect(await bytesOf(target.get(`dead/${hash}.segment`))).toEqual(poison.packed)
    expect(await keysOf(target, 'attempts/')).toEqual([])
    expect(bus.length).toBe(0)
    expect(await keysOf(bus.store, 'segments/')).toEqual([])
  })

  it('leaves a segment of a store without a bus to the collector that reads it, as long as that may be at it', async () => {
    const store = await folderStore()
    const { manifest, packed } = sealed(tapeOf(1))
    await store.put(segmentKey(manifest), packed)
    await store.put(manifestKey(manifest.hash), Buffer.from(JSON.stringify(manifest)))
    const isKnown = async (key: string): Promise<boolean> => (await store.head(key)) !== undefined
    const source = await openStoreSource(store.address, {}, isKnown)
    await new Promise<void>((reads) => {
      const reading = { ...source, store: killedByReading(segmentKey(manifest), store, reads) }
      void collectorOf(reading, store).collector.step(0)
    })
    const { collector } = collectorOf(await openStoreSource(store.address, {}, isKnown), store)
    expect(await collector.step(0)).toBe(0)
    const attempts = async (minutes: number): Promise<void> => {
      const at = new Date(Date.now() - minutes * 60_000).toISOString()
      await store.put(
        `attempts/${manifest.hash}.json`,
        Buffer.from(JSON.stringify({ v: 1, attempts: 3, at })),
      )
    }
    await attempts(0)
    expect(await collector.step(0)).toBe(0)
    expect(collector.counts).toMatchObject({ dead: 0, segments: 0 })
    await attempts(10)
    expect(await collector.step(0)).toBe(1)
    expect(collector.counts).toMatchObject({ dead: 1 })
  })

  it('buries nothing because a store was away, however often the bus delivers', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const truncated = sealed(tapeOf(2))
    await bus.ship({ manifest: truncated.manifest, packed: truncated.packed.subarray(0, -20) })
    const whole = sealed(tapeOf(1))
    await bus.ship(whole)
    let isAway = true
    const away: ObjectStore = {
      ...target,
      put: (...given) => (isAway ? Promise.reject(new Error('away')) : target.put(...given)),
    }
    const { collector } = collectorOf(bus.source(), away)
    for (let i = 0; i < 20; i += 1) {
      await collector.step(0)
      await collector.commit()
    }
    isAway = false
    // The shipper repeats the truncated upload.
    await bus.store.put(segmentKey(truncated.manifest), truncated.packed)
    await collector.run(new AbortController().signal, true)
    expect(collector.counts.dead).toBe(0)
    expect(await rowsOf(target)).toHaveLength(6)
    expect(await keysOf(target, 'attempts/')).toEqual([])
  })

  it('needs no permission to delete in the target', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const truncated = sealed(tapeOf(2))
    await bus.ship({ manifest: truncated.manifest, packed: truncated.packed.subarray(0, -20) })
    await bus.ship(sealed('<html>\n'))
    const keeping: ObjectStore = { ...target, delete: () => Promise.reject(new Error('no permission')) }
    const { collector } = collectorOf(bus.source(), keeping)
    await collector.step(0)
    await bus.store.put(segmentKey(truncated.manifest), truncated.packed)
    for (let i = 0; i < 4; i += 1) await collector.step(0)
    expect(collector.counts).toMatchObject({ segments: 1, dead: 1, repeated: 0 })
    expect(bus.length).toBe(0)
  })

  it.each(['next', 'waiting'] as const)(
    'ends with an error where --once has a source whose %s keeps failing',
    async (name) => {
      const [bus, target] = [new Bus(await folderStore()), await folderStore()]
      await bus.ship(sealed(tapeOf(1)))
      const refuse = async (): Promise<never> => {
        throw new WiretapeError('unreadable', 'permission denied')
      }
      const { collector } = collectorOf({ ...bus.source(), [name]: refuse }, target, {
        failedPauseMs: 1,
      })
      await expect(collector.run(new AbortController().signal, true)).rejects.toThrow('permission denied')
    },
  )

  it('tries dead letters again, and deletes those that are in the index then', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const { manifest, packed } = sealed(tapeOf(2))
    const later = { ...manifest, v: 2 } as unknown as typeof manifest
    await bus.ship({ manifest: later, packed })
    const noTape = sealed('<html>\n')
    await bus.ship(noTape)
    await collectorOf(bus.source(), target).collector.run(new AbortController().signal, true)
    expect(await keysOf(bus.store, 'segments/')).toEqual([])
    const key = `dead/${manifest.hash}.json`
    const letter = await letterOf(target, manifest.hash)
    expect(await bytesOf(target.get(`dead/${manifest.hash}.segment`))).toEqual(packed)
    // An update of the collector reads the manifest.
    await target.put(key, Buffer.from(JSON.stringify({ ...letter, manifest: JSON.stringify(manifest) })))
    const again = { isSameStore: false, mostAttempts: 1 }
    const { collector } = collectorOf(openDeadSource(target), target, again)
    await collector.run(new AbortController().signal, true)
    expect(collector.counts).toMatchObject({ segments: 1, dead: 1 })
    expect(await rowsOf(target)).toHaveLength(4)
    expect(await bytesOf(target.get(segmentKey(manifest)))).toEqual(packed)
    const { hash } = noTape.manifest
    expect(await keysOf(target, 'dead/')).toEqual([`dead/${hash}.json`, `dead/${hash}.segment`])
  })

  it('buries a segment whose rows cannot be added to a batch, and keeps none of them', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const poison = sealed(tapeOf(3))
    await bus.ship(sealed(tapeOf(1)))
    await bus.ship(poison)
    await bus.ship(sealed(tapeOf(2)))
    const { hash } = poison.manifest
    const add = Reflect.get(IndexBatch.prototype, 'add')
    vi.spyOn(IndexBatch.prototype, 'add').mockImplementation(function (this: IndexBatch, ...given) {
      add.apply(this, given)
      if (given[1].hash === hash) throw new RangeError('Invalid array length')
    })
    const { collector } = collectorOf(bus.source(), target)
    for (let i = 0; i < 6; i += 1) await collector.step(0)
    await collector.commit()
    expect(collector.counts).toMatchObject({ segments: 2, dead: 1 })
    expect(await letterOf(target, hash)).toMatchObject({
      reason: 'it cannot be indexed: Invalid array length',
    })
    expect(await rowsOf(target)).toHaveLength(6)
    expect(bus.length).toBe(0)
  })

  it('buries a manifest under the key of another segment, once', async () => {
    const store = await folderStore()
    const { manifest, packed } = sealed(tapeOf(2))
    const key = 'f'.repeat(64)
    await store.put(segmentKey(manifest), packed)
    for (const hash of [manifest.hash, key])
      await store.put(manifestKey(hash), Buffer.from(JSON.stringify(manifest)))
    await store.put(`segments/backup/${key}.json`, Buffer.from('{}'))
    const isKnown = async (known: string): Promise<boolean> => (await store.head(known)) !== undefined
    const source = await openStoreSource(store.address, {}, isKnown)
    const { collector } = collectorOf(source, store)
    await collector.step(0)
    await collector.commit()
    await collector.step(0)
    expect(collector.counts).toMatchObject({ segments: 1, dead: 1, repeated: 0 })
    expect(await letterOf(store, key)).toMatchObject({ reason: 'its manifest names another segment' })
    expect(await source.waiting()).toBe(0)
    expect(await rowsOf(store)).toHaveLength(4)
  })

  it('indexes a tape with numbers that no table can hold', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    await bus.ship(sealed(tapeOf(1).replace('"seq":1', '"seq":9007199254740990'), { segment: 2 ** 40 }))
    const { collector, complaints } = collectorOf(bus.source(), target)
    await collector.run(new AbortController().signal, true)
    expect(complaints).toEqual([])
    expect(await rowsOf(target)).toHaveLength(2)
  })

  it('refuses a segment that unpacks to more than its manifest says', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const bomb = sealed(`${tapeOf(1)}${' '.repeat(1 << 20)}\n`)
    await bus.ship({ ...bomb, manifest: { ...bomb.manifest, bytes: 1_000 } })
    const { collector, complaints } = collectorOf(bus.source(), target)
    await collector.run(new AbortController().signal, true)
    expect(complaints.join()).toContain('it contains more than its manifest states')
  })

  it('goes on where a store failed', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    await bus.ship(sealed(tapeOf(2)))
    let failures = 3
    const flaky: ObjectStore = {
      ...target,
      put: (...given) => (failures-- > 0 ? Promise.reject(new Error('disk full')) : target.put(...given)),
    }
    const { collector, complaints } = collectorOf(bus.source(), flaky)
    await collector.run(new AbortController().signal, true)
    expect(complaints).toEqual(['disk full', 'disk full', 'disk full'])
    expect(await rowsOf(target)).toHaveLength(4)
  })

  it('goes on where the bus does not answer', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    await bus.ship(sealed(tapeOf(2)))
    const source = bus.source()
    let failures = 2
    const failing = <T>(work: () => Promise<T>): Promise<T> =>
      failures-- > 0 ? Promise.reject(new Error('timeout')) : work()
    const flaky = {
      ...source,
      next: (most: number, waitMs: number) => failing(() => source.next(most, waitMs)),
      waiting: () => failing(() => source.waiting()),
    }
    const { collector, complaints } = collectorOf(flaky, target, { failedPauseMs: 1 })
    await collector.run(new AbortController().signal, true)
    expect(complaints).toEqual(['timeout', 'timeout'])
    expect(await rowsOf(target)).toHaveLength(4)
  })

  it('takes manifests with members that it does not know', async () => {
    const bus = new Bus(await folderStore())
    const target = await folderStore()
    const { manifest, packed } = sealed(tapeOf(1))
    await bus.ship({ manifest: { ...manifest, later: { than: 'this' } } as typeof manifest, packed })
    const { collector } = collectorOf(bus.source(), target)
    await collector.run(new AbortController().signal, true)
    const key = `segments/${manifest.hash.slice(0, 2)}/${manifest.hash}.json`
    expect(Buffer.from(await bytesOf(target.get(key))).toString()).toContain('"later":{"than":"this"}')
    expect(await rowsOf(target)).toHaveLength(2)
  })

  it('writes names of servers so that they lead nowhere else', () => {
    expect(escapeName('../../etc/passwd')).toBe('.._2f.._2fetc_2fpasswd')
    expect(escapeName('day=2020-01-01/server=x')).toBe('day_3d2020-01-01_2fserver_3dx')
    expect(escapeName('é😀\u0000'.repeat(100)).length).toBeLessThanOrEqual(120)
  })
})
