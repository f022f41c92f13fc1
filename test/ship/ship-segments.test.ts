import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import os, { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { array, assert, asyncProperty, integer, nat, oneof } from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WiretapeError } from '../../src/model/index.js'
import {
  hasZstd,
  keepHostState,
  openStore,
  readFleet,
  shipSegments,
  storeName,
  tellHostState,
  type ObjectStore,
  type ShipReport,
} from '../../src/ship/index.js'
import { openStoreSource } from '../../src/cli/collect/store-source.js'
import { isShipped, writerTag } from '../../src/tape/index.js'
import { leftOut } from '../behaviour/run-cli.js'
import { collectorOf } from '../cli/collect/collected.js'
import { keysOf, rowsOf } from '../cli/collect/indexed-rows.js'
import { membersOf } from '../../src/ship/seal-segment.js'

const folders: string[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A data folder with a rotated recording, one that was cut off, and one that is live. */
function makeData(): { data: string; recordings: string } {
  const data = mkdtempSync(join(tmpdir(), 'wiretape-ship-'))
  folders.push(data)
  const recordings = join(data, 'recordings')
  mkdirSync(recordings)
  tape('a.jsonl', 'one', 0, true)
  tape('a.1.jsonl', 'one', 1, true)
  tape('cut.jsonl', 'two', 0, false)
  tape('live.jsonl', 'three', 0, false)
  return { data, recordings }

  function tape(name: string, session: string, segment: number, ended: boolean): void {
    const wiretape = { version: '0', session, transport: 'stdio', url: null, segment, metadata: {} }
    const meta = { v: 1, type: 'meta', startedAt: '2026-01-02T03:04:05.000Z', label: 'x', command: ['srv'] }
    const lines = [
      JSON.stringify({ ...meta, mcpTapVersion: 'x', wiretape }),
      `{"t":"2026-01-02T03:04:06.000Z","dir":"in","raw":{"jsonrpc":"2.0","method":"${name}"},"seq":0}`,
      '{"type":"gap","t":"2026-01-02T03:04:06.500Z","lost":3,"why":"disk full"}',
      ...(ended
        ? ['{"t":"2026-01-02T03:04:07.000Z","type":"end","exitCode":0,"wiretape":{"messages":1}}']
        : ['{"t":"2026-']),
    ]
    const path = join(recordings, name)
    writeFileSync(path, `${lines.join('\n')}${ended ? '\n' : ''}`)
    const longAgo = new Date('2026-01-02')
    utimesSync(path, longAgo, longAgo)
  }
}

const live = [
  { session: 'three', pid: 1, processStart: null, label: 'x', tape: 'live.jsonl', startedAt: '2026' },
]

async function ship(
  data: string,
  store: ObjectStore,
  target = 'store',
  encoding: 'gzip' | 'zstd' = 'gzip',
  onStart?: (reportNow: () => ShipReport) => void,
): Promise<ShipReport> {
  return shipSegments({
    recordings: join(data, 'recordings'),
    dataFolder: data,
    captures: () => Promise.resolve(live),
    store,
    target,
    encoding,
    version: '0',
    ...(onStart && { onStart }),
  })
}

/** Every object of segments is a tape of the folder under the name of its hash; returns their names. */
function checkStore(root: string, recordings: string): string[] {
  const tapes = new Map(
    readdirSync(recordings).map((name) => {
      const bytes = readFileSync(join(recordings, name))
      return [createHash('sha256').update(bytes).digest('hex'), { name, bytes }]
    }),
  )
  const objects = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.gz'),
  )
  return objects.map((name) => {
    const hash = /([0-9a-f]{64})\.jsonl\.gz$/.exec(name)![1]!
    const object = readFileSync(join(root, name))
    const tape = tapes.get(hash)!
    expect(gunzipSync(object).equals(tape.bytes)).toBe(true)
    const manifest = JSON.parse(readFileSync(join(root, name.replace('.jsonl.gz', '.json')), 'utf8'))
    expect(manifest).toMatchObject({ v: 1, hash, bytes: tape.bytes.length, compressedBytes: object.length })
    for (const { at, length, from, bytes } of manifest.members)
      expect(
        gunzipSync(object.subarray(at, at + length)).equals(tape.bytes.subarray(from, from + bytes)),
      ).toBe(true)
    return tape.name
  })
}

/** As `wiretape recover` closes a tape. */
function recover(path: string): void {
  const text = readFileSync(path, 'utf8')
  const end = '{"t":"2026-01-02T03:04:07.000Z","type":"end","exitCode":0,'
  writeFileSync(
    path,
    `${text.slice(0, text.lastIndexOf('\n') + 1)}${end}"wiretape":{"messages":1,"recovered":true}}\n`,
  )
}

describe('shipping', () => {
  it('puts every finished segment into the store under the hash of its bytes, and none that is live', async () => {
    const { data, recordings } = makeData()
    const root = join(data, 'store')
    const report = await ship(data, await openStore(root, {}))
    expect(report).toMatchObject({ shipped: 3, waiting: 0, refusals: 0 })
    expect(checkStore(root, recordings).toSorted()).toEqual(['a.1.jsonl', 'a.jsonl', 'cut.jsonl'])
    expect(readdirSync(join(data, 'outgoing'))).toEqual([])
    expect(await ship(data, await openStore(root, {}))).toMatchObject({ shipped: 0, waiting: 0 })
  })

  it('tells the store what it shipped, which is read without the segments', async () => {
    const { data } = makeData()
    const store = await openStore(join(data, 'store'), {})
    // Killed after the first pass: the state of its segments is kept nevertheless.
    await ship(data, store)
    const place = { dataFolder: data, target: 'store', version: '0' }
    await tellHostState(store, data, await keepHostState(place, await ship(data, store)))
    const listed: string[] = []
    const seen: ObjectStore = {
      ...store,
      list(prefix) {
        listed.push(prefix)
        return store.list(prefix)
      },
    }
    const [host] = await readFleet(seen)
    expect(host).toMatchObject({ segments: 3, sessions: 2, messages: 3, gaps: 3, lost: 9 })
    expect(host!.bytes).toBeGreaterThan(host!.compressedBytes - 3_000)
    expect(host!.lastSegment).toBe('2026-01-02T03:04:07.000Z')
    expect(listed).toEqual(['hosts/'])
  })

  it('reports what it shipped and what waits while a pass runs', async () => {
    const { data } = makeData()
    const store = await openStore(join(data, 'store'), {})
    const reports: ShipReport[] = []
    let reportNow: (() => ShipReport) | undefined
    const watched: ObjectStore = {
      ...store,
      put(...given) {
        reports.push(reportNow!())
        return store.put(...given)
      },
    }
    await ship(data, watched, 'store', 'gzip', (now) => (reportNow = now))
    const [first, last] = [reports[0]!, reports.at(-1)!]
    expect(first).toMatchObject({ shipped: 0, waiting: 3, oldestWaiting: '2026-01-02T00:00:00.000Z' })
    expect(last).toMatchObject({ shipped: 2, waiting: 1 })
    expect(last.waitingBytes).toBeLessThan(first.waitingBytes)
  })

  it('removes what killed shippers left, but nothing that one on another machine writes', async () => {
    const { data } = makeData()
    const outgoing = join(data, 'outgoing')
    mkdirSync(outgoing)
    const gone = spawnSync(process.execPath, ['-e', '']).pid
    const tagOn = (host: string): string => {
      vi.spyOn(os, 'hostname').mockReturnValue(host)
      return writerTag().replace(/^\d+/, String(gone))
    }
    const [far, old] = [`${tagOn('laptop-2')}1.part`, `${tagOn('laptop-2')}2.part`]
    const killed = `${tagOn('laptop-1')}3.part`
    for (const name of [far, old, killed, `${gone}-4.part`, 'notes'])
      writeFileSync(join(outgoing, name), 'half')
    utimesSync(join(outgoing, old), 0, 0)
    await ship(data, await openStore(join(data, 'store'), {}))
    expect(readdirSync(outgoing).toSorted()).toEqual([far, 'notes'].toSorted())
  })

  it('counts for each machine what it shipped itself, although they share a data folder', async () => {
    const { data, recordings } = makeData()
    const store = await openStore(join(data, 'store'), {})
    const place = { dataFolder: data, target: 'store', version: '0' }
    const pass = async (host: string): Promise<void> => {
      vi.spyOn(os, 'hostname').mockReturnValue(host)
      await tellHostState(store, data, await keepHostState(place, await ship(data, store)))
    }
    const [last, path] = [join(recordings, 'cut.jsonl'), join(data, 'cut.jsonl')]
    renameSync(last, path)
    await pass('laptop-1')
    renameSync(path, last)
    await pass('laptop-2')
    await pass('laptop-1')
    const fleet = await readFleet(store)
    expect(Object.fromEntries(fleet.map(({ host, segments }) => [host, segments]))).toEqual({
      'laptop-1': 2,
      'laptop-2': 1,
    })
  })

  it('goes on where it was killed, at every step, and puts nothing twice', async () => {
    for (let step = 1; ; step += 1) {
      const { data, recordings } = makeData()
      const root = join(data, 'store')
      const store = await openStore(root, {})
      const puts: string[] = []
      let steps = 0
      /** From a step on nothing works: half of them are done on the store, and their answer never comes. */
      const dying: ObjectStore = {
        ...store,
        async put(key, content, options) {
          steps += 1
          if (steps >= step && step % 2 === 0) throw new WiretapeError('unreachable', 'killed')
          const done = await store.put(key, content, options)
          if (done === 'stored') puts.push(key)
          if (steps >= step) throw new WiretapeError('unreachable', 'killed')
          return done
        },
        async head(key) {
          steps += 1
          if (steps >= step) throw new WiretapeError('unreachable', 'killed')
          return store.head(key)
        },
      }
      const first = await ship(data, dying)
      expect(first.shipped + first.waiting).toBe(3)
      const second = await ship(data, {
        ...store,
        async put(key, content, options) {
          const done = await store.put(key, content, options)
          if (done === 'stored') puts.push(key)
          return done
        },
      })
      expect(first.shipped + second.shipped).toBe(3)
      expect(checkStore(root, recordings)).toHaveLength(3)
      expect(new Set(puts).size).toBe(puts.length)
      if (first.waiting === 0) return
    }
  })

  it('replaces what another compressor left under the name, and tells of refusals', async () => {
    const { data, recordings } = makeData()
    const root = join(data, 'store')
    const store = await openStore(root, {})
    const hash = createHash('sha256')
      .update(readFileSync(join(recordings, 'a.jsonl')))
      .digest('hex')
    await store.put(`segments/${hash.slice(0, 2)}/${hash}.jsonl.gz`, Buffer.from('torn'))
    const refusing: ObjectStore = {
      ...store,
      put: () => Promise.reject(new WiretapeError('refused', 'no permission')),
    }
    expect(await ship(data, refusing)).toMatchObject({ shipped: 0, waiting: 3, refusals: 3 })
    expect(await ship(data, store)).toMatchObject({ shipped: 3, waiting: 0 })
    checkStore(root, recordings)
  })

  it('ships to a second store too', async () => {
    const { data, recordings } = makeData()
    await ship(data, await openStore(join(data, 'store'), {}), 'first')
    expect(await ship(data, await openStore(join(data, 'other'), {}), 'second')).toMatchObject({ shipped: 3 })
    expect(checkStore(join(data, 'other'), recordings)).toHaveLength(3)
  })

  it('tells the endpoints of a bucket apart, and asks the one in use about marks without an endpoint', async () => {
    const { data, recordings } = makeData()
    const one = storeName('s3://tapes', { AWS_ENDPOINT_URL: 'http://one.test:9000/' })
    const other = storeName('s3://tapes', { AWS_ENDPOINT_URL_S3: 'https://other.test' })
    expect([one, other, storeName('s3://tapes', {})]).toEqual([
      's3://tapes at http://one.test:9000',
      's3://tapes at https://other.test',
      's3://tapes at https://s3.amazonaws.com',
    ])
    const store = await openStore(join(data, 'store'), {})
    await ship(data, store, 's3://tapes')
    const cut = join(recordings, 'cut.jsonl')
    recover(cut)
    expect(await ship(data, store, one)).toMatchObject({ shipped: 3, sentBytes: 0 })
    expect(await ship(data, store, one)).toMatchObject({ shipped: 0 })
    expect((await keysOf(store, 'segments/')).filter((key) => key.endsWith('.gz'))).toHaveLength(3)
    const second = await ship(data, await openStore(join(data, 'other'), {}), other)
    expect(second.shipped).toBe(3)
    expect(second.sentBytes).toBeGreaterThan(0)
    // A recorder does not know which endpoint its shipper uses.
    rmSync(join(data, 'shipped'), { recursive: true })
    expect(isShipped(cut, 's3://tapes')).toBe(false)
    await ship(data, store, other)
    expect(isShipped(cut, 's3://tapes')).toBe(true)
  })

  it('ships no recording again because `recover` closed it', async () => {
    const { data, recordings } = makeData()
    const store = await openStore(join(data, 'store'), {})
    await ship(data, store)
    recover(join(recordings, 'cut.jsonl'))
    expect(await ship(data, store)).toMatchObject({ shipped: 0, waiting: 0 })
  })
})

describe.skipIf(leftOut(hasZstd, 'shipping with zstd, which needs Node 22.15'))('shipping with zstd', () => {
  it('stores members that a collector indexes', async () => {
    const { data } = makeData()
    const store = await openStore(join(data, 'store'), {})
    expect(await ship(data, store, 'store', 'zstd')).toMatchObject({ shipped: 3, waiting: 0 })
    expect((await keysOf(store, 'segments/')).filter((key) => key.endsWith('.jsonl.zst'))).toHaveLength(3)
    const isKnown = async (key: string): Promise<boolean> => (await store.head(key)) !== undefined
    const source = await openStoreSource(store.address, {}, isKnown)
    const { collector, complaints } = collectorOf(source, store, { isSameStore: true })
    await collector.run(new AbortController().signal, true)
    expect(complaints).toEqual([])
    const kinds = (await rowsOf(store)).map(({ kind }) => String(kind))
    expect(kinds.toSorted()).toEqual(['gap', 'gap', 'gap', 'notification', 'notification', 'notification'])
  })
})

describe('members of a sealed segment', () => {
  it('are the bytes in order, of whole lines as far as those are short', async () => {
    const lengths = array(oneof(nat(3_000), nat(700_000), nat(3_000_000)), { maxLength: 8 })
    await assert(
      asyncProperty(lengths, integer({ min: 1, max: 300_000 }), async (lines, chunk) => {
        const text = Buffer.from(lines.map((length, i) => `${'abcdefgh'[i]!.repeat(length)}\n`).join(''))
        async function* chunks(): AsyncGenerator<Uint8Array> {
          for (let at = 0; at < text.length; at += Math.max(chunk, 10_000))
            yield text.subarray(at, at + Math.max(chunk, 10_000))
        }
        const members: Buffer[] = []
        for await (const member of membersOf(chunks())) members.push(Buffer.from(member))
        expect(Buffer.concat(members).equals(text)).toBe(true)
        expect(members.every(({ length }) => length > 0 && length <= 1024 * 1024)).toBe(true)
        if (lines.every((length) => length < 250_000))
          expect(members.every((member) => member.at(-1) === 0x0a && member.length <= 256 * 1024)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })
})
