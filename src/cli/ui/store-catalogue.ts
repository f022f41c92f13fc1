import { createHmac, randomBytes } from 'node:crypto'
import {
  bytesOf,
  decodeManifest,
  manifestKey,
  openStore,
  type Manifest,
  type ObjectStore,
} from '../../ship/index.js'
import type { ListedRecording } from '../../control-schema/index.js'
import type { Catalogue } from '../../ui-server/index.js'
import { SegmentReader } from '../fleet/segment-reader.js'
import { inLanes } from '../fleet/store-index.js'
import type { Io } from '../io.js'
import { originKeyIn } from '../keys.js'
import { sampleRecording } from '../viewer-folder.js'
import { sqlAnswer } from './sql-answer.js'

/** Pages ask every few seconds, and stores charge for each listing. */
const listedForMs = 30_000
/** Most manifests read; of more, an arbitrary subset. */
const mostManifests = 50_000
/** Sessions sent to a page. */
const mostSessions = 2_000

/** The sessions of a store for `wiretape ui --at`. Their segments are read by range, at the page's pace. */
export async function createStoreCatalogue(
  at: string,
  io: Io,
): Promise<{ readonly catalogue: Catalogue; readonly close: () => Promise<void> }> {
  const store = await openStore(at, process.env)
  const reader = new SegmentReader(store)
  const secret = originKeyIn(io.dataFolder) ?? randomBytes(32)
  const manifests = new Map<string, Manifest>()
  /** Segments by session id, and session ids by segment hash. */
  const known = new Map<string, readonly Manifest[]>()
  const ids = new Map<string, string>()
  let listed: Promise<readonly ListedRecording[]> | undefined
  let listedAtMs = -Infinity

  async function list(): Promise<readonly ListedRecording[]> {
    await readManifests(store, manifests)
    const sessions = new Map<string, Manifest[]>()
    for (const manifest of manifests.values()) {
      const key = [manifest.host, manifest.user, manifest.session].join('\0')
      const segments = sessions.get(key)
      if (segments) segments.push(manifest)
      else sessions.set(key, [manifest])
    }
    const rows = [...sessions].map(([key, segments]) => {
      const id = createHmac('sha256', secret).update(`store\0${key}`).digest('base64url').slice(0, 24)
      segments.sort((a, b) => a.segment - b.segment || (a.startedAt < b.startedAt ? -1 : 1))
      known.set(id, segments)
      for (const { hash } of segments) ids.set(hash, id)
      return rowOf(id, segments)
    })
    return rows.toSorted((a, b) => (a.startedAt > b.startedAt ? -1 : 1)).slice(0, mostSessions)
  }

  function recordings(): Promise<readonly ListedRecording[]> {
    if (!listed || performance.now() - listedAtMs > listedForMs) {
      listedAtMs = performance.now()
      listed = list()
      // A temporarily unreachable store is asked again.
      listed.catch(() => (listed = undefined))
    }
    return listed
  }

  const catalogue: Catalogue = {
    store: store.address,
    recordings,
    given: async () => [],
    pathOf: async (id, index) => (id === 'sample' && index === 0 ? sampleRecording() : undefined),
    async contentOf(id, index) {
      if (known.size === 0) await recordings()
      const manifest = known.get(id)?.[index]
      return manifest && { sizeBytes: manifest.bytes, chunks: () => reader.ranges(manifest.hash) }
    },
    async sql(query, signal) {
      const { runFleetQuery } = await import('../fleet/query.js')
      await recordings()
      let answer: Awaited<ReturnType<typeof sqlAnswer>> | undefined
      const take = async (result: Parameters<typeof sqlAnswer>[0]): Promise<void> => {
        answer = await sqlAnswer(result, (recording) => ids.get(recording))
      }
      await runFleetQuery(query, at, undefined, io, take, signal)
      return answer!
    },
    progressOf: async () => ({ live: false }),
    attend: async () => undefined,
  }
  return { catalogue, close: () => store.close() }
}

/** Reads only unknown ones, since manifests never change. */
async function readManifests(store: ObjectStore, manifests: Map<string, Manifest>): Promise<void> {
  const missing: string[] = []
  const there = new Set<string>()
  for await (const { key } of store.list('segments/')) {
    const hash = /([0-9a-f]{64})\.json$/.exec(key)?.[1]
    if (hash === undefined || there.size >= mostManifests) continue
    there.add(hash)
    if (!manifests.has(hash)) missing.push(hash)
  }
  for (const hash of manifests.keys()) if (!there.has(hash)) manifests.delete(hash)
  await inLanes(missing, async (hash) => {
    const text = Buffer.from(await bytesOf(store.get(manifestKey(hash)))).toString('utf8')
    const manifest = decodeManifest(text)
    if (manifest?.hash === hash) manifests.set(hash, manifest)
  })
}

function rowOf(id: string, segments: readonly Manifest[]): ListedRecording {
  const [first] = segments as [Manifest]
  const sum = (of: (manifest: Manifest) => number): number =>
    segments.reduce((total, manifest) => total + of(manifest), 0)
  const ended = segments.at(-1)!.endedAt
  const durationMs = ended === null ? Number.NaN : Date.parse(ended) - Date.parse(first.startedAt)
  const { transport, command, url } = first.server
  return {
    id,
    name: `${first.hash.slice(0, 12)}.jsonl`,
    label: first.label,
    startedAt: first.startedAt,
    sizeBytes: sum(({ bytes }) => bytes),
    messages: sum(({ messages }) => messages),
    errors: null,
    durationMs: Number.isNaN(durationMs) ? null : durationMs,
    server: (url ?? command.join(' ')) || transport,
    client: null,
    host: first.user === '' ? first.host : `${first.user}@${first.host}`,
    state: 'complete',
    files: segments.map(({ hash }) => `${hash.slice(0, 12)}.jsonl`),
    path: first.hash,
  }
}
