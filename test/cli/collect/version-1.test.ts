/** A store as the first version of wiretape fills it: test/fixtures/fleet/version-1. Later versions must read it; it never changes. And segments of later versions. */
import { cpSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { openStoreSource } from '../../../src/cli/collect/store-source.js'
import { bytesOf, manifestKey, openStore, type Manifest, type ObjectStore } from '../../../src/ship/index.js'
import { Bus, collectorOf, folderStore, newFolder, sealed, tapeOf } from './collected.js'
import { keysOf, rowsOf } from './indexed-rows.js'

const version1 = resolve(import.meta.dirname, '../../fixtures/fleet/version-1')

async function isKnownIn(store: ObjectStore, key: string): Promise<boolean> {
  return (await store.head(key)) !== undefined
}

/** What people ask for, without the columns that depend on the time. */
const asked = ({ seq, kind, method, subject, latency_ms }: Record<string, unknown>) => ({
  seq: Number(seq),
  kind,
  method,
  subject,
  latency_ms,
})

it('the segments, manifests and index of version 1 are read', async () => {
  const store = await openStore(version1, {})
  const rows = await rowsOf(store)
  expect(rows.map(asked)).toMatchInlineSnapshot(`
    [
      {
        "kind": "request",
        "latency_ms": null,
        "method": "tools/call",
        "seq": 0,
        "subject": "echo",
      },
      {
        "kind": "result",
        "latency_ms": 0.5,
        "method": "tools/call",
        "seq": 1,
        "subject": "echo",
      },
      {
        "kind": "request",
        "latency_ms": null,
        "method": "tools/call",
        "seq": 2,
        "subject": "echo",
      },
      {
        "kind": "result",
        "latency_ms": 0.5,
        "method": "tools/call",
        "seq": 3,
        "subject": "echo",
      },
      {
        "kind": "request",
        "latency_ms": null,
        "method": "tools/call",
        "seq": 4,
        "subject": "echo",
      },
      {
        "kind": "result",
        "latency_ms": 0.5,
        "method": "tools/call",
        "seq": 5,
        "subject": "echo",
      },
    ]
  `)
  expect(rows.map(({ host, user, label }) => [host, user, label])).toEqual(
    rows.map(() => ['laptop-1', 'ann', 'shop']),
  )

  // A collector of this version indexes the segment anew, with the same result.
  const target = await folderStore()
  const source = await openStoreSource(version1, {}, (key) => isKnownIn(target, key))
  const { collector, complaints } = collectorOf(source, target)
  await collector.run(new AbortController().signal, true)
  expect(complaints).toEqual([])
  expect((await rowsOf(target)).map(asked)).toEqual(rows.map(asked))
})

it('a segment of a later recorder is indexed although members and record types are unknown', async () => {
  const tape = tapeOf(3)
  const later = tape
    .trimEnd()
    .split('\n')
    .flatMap((line, i) => {
      const { wiretape, ...record } = JSON.parse(line) as Record<string, unknown>
      const known = wiretape ? { wiretape: { ...wiretape, laterMember: [1] } } : {}
      const unknown = { t: '2026-08-01T10:00:09.000Z', type: `later${i}`, id: `later-${i}`, data: { i } }
      return [{ ...record, ...known, laterMember: { of: 'a record' } }, unknown]
    })
  const segment = sealed(later.map((line) => `${JSON.stringify(line)}\n`).join(''), { label: 'later' })
  const manifest = {
    ...segment.manifest,
    laterMember: true,
    server: { ...segment.manifest.server, laterMember: 'x' },
  }
  const asShipped = async (manifestOf: Manifest, packed: Uint8Array) => {
    const bus = new Bus(await folderStore())
    await bus.ship({ manifest: manifestOf, packed })
    const target = await folderStore()
    const { collector, complaints } = collectorOf(bus.source(), target)
    await collector.run(new AbortController().signal, true)
    expect([complaints, collector.counts.dead]).toEqual([[], 0])
    return target
  }
  const target = await asShipped(manifest, segment.packed)
  const today = sealed(tape)
  const rows = await rowsOf(await asShipped(today.manifest, today.packed))
  expect(rows).toHaveLength(6)
  expect((await rowsOf(target)).map(asked)).toEqual(rows.map(asked))
  // What this version does not know stays in the store for later ones.
  const kept = Buffer.from(await bytesOf(target.get(manifestKey(manifest.hash)))).toString()
  expect(JSON.parse(kept)).toEqual(manifest)
})

it('a manifest of a later version becomes a dead letter that says so, once', async () => {
  const from = newFolder()
  cpSync(join(version1, 'segments'), join(from, 'segments'), { recursive: true })
  const name = readdirSync(join(from, 'segments'), { recursive: true, encoding: 'utf8' }).find((each) =>
    each.endsWith('.json'),
  )!
  const manifest = JSON.parse(readFileSync(join(from, 'segments', name), 'utf8')) as { hash: string }
  const store = await openStore(from, {})
  await store.put(`segments/${name}`, Buffer.from(JSON.stringify({ ...manifest, v: 2 })))

  const source = await openStoreSource(from, {}, (key) => isKnownIn(store, key))
  const { collector, complaints } = collectorOf({ ...source, store }, store)
  await collector.run(new AbortController().signal, true)
  expect(collector.counts).toMatchObject({ dead: 1, segments: 0 })
  const letter = Buffer.from(await bytesOf(store.get(`dead/${manifest.hash}.json`))).toString()
  const reason =
    'its manifest has version 2, and this version of wiretape reads version 1: update the collector'
  expect(JSON.parse(letter)).toMatchObject({ hash: manifest.hash, reason })
  expect(complaints).toEqual([
    `segment ${manifest.hash.slice(0, 12)} cannot be read: ${reason}; it is in dead/`,
  ])
})

it('segments of later versions in another compression become dead letters with their bytes', async () => {
  const bus = new Bus(await folderStore())
  const target = await folderStore()
  const expected: string[] = []
  for (const [v, reason] of [
    [1, 'its compression "later" is unknown to this version of wiretape: update the collector'],
    [2, 'its manifest has version 2, and this version of wiretape reads version 1: update the collector'],
  ] as const) {
    const { manifest, packed } = sealed(`version ${v}\n`)
    const { hash } = manifest
    await bus.store.put(`segments/${hash.slice(0, 2)}/${hash}.jsonl.later`, packed)
    const text = JSON.stringify({ ...manifest, v, encoding: 'later' })
    await bus.store.put(manifestKey(hash), Buffer.from(text))
    bus.announce(text)
    expected.push(`segment ${hash.slice(0, 12)} cannot be read: ${reason}; it is in dead/`)
  }
  const hashes = (await keysOf(bus.store, 'segments/')).map((key) => basename(key).split('.')[0])
  const { collector, complaints } = collectorOf(bus.source(), target)
  await collector.run(new AbortController().signal, true)
  expect(complaints.toSorted()).toEqual(expected.toSorted())
  const kept = await keysOf(target, 'dead/')
  expect(kept).toEqual(expect.arrayContaining(hashes.map((hash) => `dead/${hash}.segment`)))
  expect(await keysOf(bus.store, 'segments/')).toEqual([])
})
