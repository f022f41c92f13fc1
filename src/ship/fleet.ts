import { decodeHostState, type HostState } from './host-state.js'
import { decodeManifest, type Manifest } from './manifest.js'
import { bytesOf, type ObjectStore } from './store/object-store.js'

/** Objects read concurrently. */
const atOnce = 16

/** One user of one machine, as the store records them. */
export interface FleetHost {
  readonly host: string
  readonly user: string
  readonly segments: number
  readonly sessions: number
  /** Uncompressed bytes in the store. */
  readonly bytes: number
  readonly compressedBytes: number
  readonly messages: number
  readonly gaps: number
  /** Messages missing in gaps. */
  readonly lost: number
  /** End of its last segment; null without any. */
  readonly lastSegment: string | null
  /** Last state reported by its shipper; null without one. */
  readonly shipper: HostState | null
}

/** Reads every manifest of a store and the states of its shippers. */
export async function readFleet(store: ObjectStore): Promise<FleetHost[]> {
  const hosts = new Map<string, { row: Writable<FleetHost>; sessions: Set<string> }>()
  const of = (host: string, user: string): { row: Writable<FleetHost>; sessions: Set<string> } => {
    const key = `${host}\0${user}`
    const known = hosts.get(key)
    if (known) return known
    const numbers = { segments: 0, sessions: 0, bytes: 0, compressedBytes: 0, messages: 0, gaps: 0, lost: 0 }
    const made = {
      row: { host, user, ...numbers, lastSegment: null, shipper: null },
      sessions: new Set<string>(),
    }
    hosts.set(key, made)
    return made
  }
  await eachText(store, 'segments/', (text) => {
    const manifest = decodeManifest(text)
    if (!manifest) return
    const { row, sessions } = of(manifest.host, manifest.user)
    add(row, manifest)
    sessions.add(manifest.session)
    row.sessions = sessions.size
  })
  await eachText(store, 'hosts/', (text) => {
    const state = decodeHostState(text)
    if (!state) return
    const { row } = of(state.host, state.user)
    if (row.shipper === null || row.shipper.at < state.at) row.shipper = state
  })
  return [...hosts.values()]
    .map(({ row }) => row)
    .toSorted((a, b) => a.host.localeCompare(b.host) || a.user.localeCompare(b.user))
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

function add(row: Writable<FleetHost>, manifest: Manifest): void {
  row.segments += 1
  row.bytes += manifest.bytes
  row.compressedBytes += manifest.compressedBytes
  row.messages += manifest.messages
  row.gaps += manifest.gaps
  row.lost += manifest.lost
  const ended = manifest.endedAt ?? manifest.startedAt
  if (row.lastSegment === null || row.lastSegment < ended) row.lastSegment = ended
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
