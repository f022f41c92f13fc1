/** A store as the first version of wiretape fills it: test/fixtures/fleet/version-1. Later versions must read it; it never changes. */
import { cpSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { openStoreSource } from '../../../src/cli/collect/store-source.js'
import { bytesOf, openStore, type ObjectStore } from '../../../src/ship/index.js'
import { collectorOf, folderStore, newFolder } from './collected.js'
import { rowsOf } from './indexed-rows.js'

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
