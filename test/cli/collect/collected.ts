import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterFile } from '../../after-file.js'
import { Collector, type CollectorOptions } from '../../../src/cli/collect/collector.js'
import type { Delivery, SegmentSource } from '../../../src/cli/collect/source.js'
import {
  manifestKey,
  openStore,
  segmentKey,
  type Manifest,
  type ObjectStore,
} from '../../../src/ship/index.js'
import { identity } from '../../fixtures/identity.mjs'

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-collect-test-'))
  afterFile(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function folderStore(): Promise<ObjectStore> {
  return openStore(newFolder(), {})
}

/** A tape of calls, each with its answer. */
export function tapeOf(
  calls: number,
  { session = randomUUID(), label = 'shop', day = '2026-08-01' } = {},
): string {
  const meta = {
    v: 1,
    type: 'meta',
    startedAt: `${day}T10:00:00.000Z`,
    label,
    command: ['server'],
    mcpTapVersion: 'wiretape 0.1.0',
    wiretape: { ...identity, session },
  }
  const lines: object[] = [meta]
  for (let i = 0; i < calls; i += 1) {
    const t = `${day}T10:00:0${i % 10}.000Z`
    const call = { jsonrpc: '2.0', id: i, method: 'tools/call', params: { name: 'echo', arguments: { i } } }
    const answer = { jsonrpc: '2.0', id: i, result: { content: [] } }
    const id = randomUUID()
    lines.push({ t, dir: 'in', raw: call, id, seq: i * 2, us: i * 1000 })
    lines.push({ t, dir: 'out', raw: answer, id: randomUUID(), corr: id, seq: i * 2 + 1, us: i * 1000 + 500 })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** A segment as it is shipped, in members of 2 kB. */
export function sealed(tape: string, more: Partial<Manifest> = {}): { manifest: Manifest; packed: Buffer } {
  const bytes = Buffer.from(tape)
  const members: Manifest['members'] = []
  const pieces: Buffer[] = []
  let at = 0
  for (let from = 0; from < bytes.length; from += 2_048) {
    const piece = gzipSync(bytes.subarray(from, from + 2_048))
    members.push({ at, length: piece.length, from, bytes: Math.min(2_048, bytes.length - from) })
    pieces.push(piece)
    at += piece.length
  }
  const manifest: Manifest = {
    v: 1,
    hash: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    encoding: 'gzip',
    compressedBytes: at,
    members,
    session: '0',
    segment: 0,
    startedAt: '2026-08-01T10:00:00.000Z',
    endedAt: null,
    messages: 0,
    gaps: 0,
    lost: 0,
    host: 'laptop-1',
    user: 'ann',
    label: 'shop',
    server: { transport: 'stdio', command: ['server'], url: null },
    wiretape: '0.1.0',
    shippedAt: '2026-08-01T10:01:00.000Z',
    ...more,
  }
  return { manifest, packed: Buffer.concat(pieces) }
}

/** A bus with its bucket: what is not acknowledged is delivered again. */
export class Bus {
  readonly store: ObjectStore
  readonly #waiting = new Map<number, { readonly manifest: Uint8Array; attempt: number }>()
  #next = 0

  constructor(store: ObjectStore) {
    this.store = store
  }

  async ship({ manifest, packed }: { manifest: Manifest; packed: Uint8Array }): Promise<void> {
    await this.store.put(segmentKey(manifest), packed)
    await this.store.put(manifestKey(manifest.hash), Buffer.from(JSON.stringify(manifest)))
    this.announce(JSON.stringify(manifest))
  }

  announce(manifest: string): void {
    this.#waiting.set((this.#next += 1), { manifest: Buffer.from(manifest), attempt: 0 })
  }

  get length(): number {
    return this.#waiting.size
  }

  /** As one collector sees it. */
  source(store = this.store): SegmentSource {
    return {
      store,
      isQueue: true,
      workingMs: 60_000,
      next: async (most) => {
        const deliveries: Delivery[] = []
        for (const [id, waiting] of [...this.#waiting].slice(0, most)) {
          waiting.attempt += 1
          deliveries.push({
            manifest: waiting.manifest,
            attempt: waiting.attempt,
            done: async () => void this.#waiting.delete(id),
            again: () => undefined,
            working: () => undefined,
          })
        }
        return deliveries
      },
      waiting: async () => this.#waiting.size,
      backlog: async () => ({ segments: this.#waiting.size, oldestMs: undefined }),
      close: async () => undefined,
    }
  }
}

export function collectorOf(
  source: SegmentSource,
  target: ObjectStore,
  more: Partial<CollectorOptions> = {},
): { readonly collector: Collector; readonly complaints: string[] } {
  const complaints: string[] = []
  const collector = new Collector({
    source,
    target,
    isSameStore: source.store === target,
    folder: newFolder(),
    batchRows: 100_000,
    batchSegments: 1_000,
    batchAgeMs: 30_000,
    now: () => 0,
    complain: (message) => void complaints.push(message),
    ...more,
  })
  return { collector, complaints }
}

/** A store whose process is killed before its `nth` operation: that and all later ones never end. */
export function killedBefore(nth: number, store: ObjectStore, killed: () => void): ObjectStore {
  let count = 0
  async function lives(): Promise<void> {
    count += 1
    if (count < nth) return
    killed()
    await new Promise(() => undefined)
  }
  return {
    ...store,
    async put(...given) {
      await lives()
      return store.put(...given)
    },
    async head(key) {
      await lives()
      return store.head(key)
    },
    async delete(key) {
      await lives()
      return store.delete(key)
    },
  }
}

/** A store whose process is killed when it reads an object. */
export function killedByReading(key: string, store: ObjectStore, killed: () => void): ObjectStore {
  return {
    ...store,
    async *get(wanted, range) {
      if (wanted === key) {
        killed()
        await new Promise(() => undefined)
      }
      yield* store.get(wanted, range)
    },
  }
}
