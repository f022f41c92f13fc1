import { decodeHostState, type HostState } from './host-state.js'
import { bytesOf, type ObjectStore } from './store/object-store.js'

/** Objects read concurrently. */
const atOnce = 16

/** One user of one machine. The numbers are what its shippers sent to the store since their first start. */
export interface FleetHost {
  readonly host: string
  readonly user: string
  readonly segments: number
  readonly sessions: number
  /** Uncompressed. */
  readonly bytes: number
  /** Bytes sent. */
  readonly compressedBytes: number
  readonly messages: number
  readonly gaps: number
  /** Messages missing in gaps. */
  readonly lost: number
  /** End of its last segment; null without any. */
  readonly lastSegment: string | null
  /** Last state reported by its shipper, with what waits and failed in all of its data folders; null without one. */
  readonly shipper: HostState | null
}

/** Reads the states of a store's shippers: one object per data folder, however many segments there are. */
export async function readFleet(store: ObjectStore): Promise<FleetHost[]> {
  const hosts = new Map<string, Writable<FleetHost>>()
  await eachText(store, 'hosts/', (text) => {
    const state = decodeHostState(text)
    if (!state) return
    const { host, user } = state
    const key = `${host}\0${user}`
    const row = hosts.get(key) ?? { host, user, ...nothing }
    hosts.set(key, row)
    row.segments += state.shipped
    row.sessions += state.sessions
    row.bytes += state.shippedBytes
    row.compressedBytes += state.sentBytes
    row.messages += state.messages
    row.gaps += state.gaps
    row.lost += state.lost
    const { lastSegment } = state
    if (lastSegment !== null && (row.lastSegment ?? '') < lastSegment) row.lastSegment = lastSegment
    row.shipper = row.shipper === null ? state : together(row.shipper, state)
  })
  return [...hosts.values()].toSorted((a, b) => a.host.localeCompare(b.host) || a.user.localeCompare(b.user))
}

/** States of two data folders. */
function together(one: HostState, other: HostState): HostState {
  const [older, newer] = one.at < other.at ? [one, other] : [other, one]
  const waiting = [one.oldestWaiting, other.oldestWaiting].filter((time) => time !== null)
  return {
    ...newer,
    refusals: one.refusals + other.refusals,
    failures: one.failures + other.failures,
    waiting: one.waiting + other.waiting,
    waitingBytes: one.waitingBytes + other.waitingBytes,
    oldestWaiting: waiting.toSorted()[0] ?? null,
    trouble: newer.trouble ?? older.trouble,
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const nothing = {
  segments: 0,
  sessions: 0,
  bytes: 0,
  compressedBytes: 0,
  messages: 0,
  gaps: 0,
  lost: 0,
  lastSegment: null,
  shipper: null,
}

async function eachText(store: ObjectStore, prefix: string, take: (text: string) => void): Promise<void> {
  const running = new Set<Promise<void>>()
  for await (const { key } of store.list(prefix)) {
    if (!key.endsWith('.json')) continue
    const reading = bytesOf(store.get(key)).then(
      (bytes) => take(Buffer.from(bytes).toString()),
      // Deleted since the listing.
      (error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'unreadable')) throw error
      },
    )
    running.add(reading)
    void reading.then(
      () => running.delete(reading),
      () => undefined,
    )
    if (running.size >= atOnce) await Promise.race(running)
  }
  await Promise.all(running)
}
