import { statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LiveCapture } from '../control/index.js'
import { WiretapeError } from '../model/index.js'
import {
  diskReason,
  isAbandoned,
  isUnchanged,
  readShippedMark,
  replaceFile,
  shippedMarkPath,
  type ShippedMark,
} from '../tape/index.js'
import { findFinished, sizeNow, type FinishedSegment } from './finished-segments.js'
import { countShipped, whoAmI } from './host-state.js'
import { decodeManifest, manifestKey, segmentKey, type Manifest } from './manifest.js'
import { sealBytes, type Encoding, type SealedBytes } from './seal-segment.js'
import { bytesOf, type ObjectStore } from './store/object-store.js'

/** Consecutive refusals that end a pass. */
const mostRefusals = 3

export interface ShipOptions {
  /** Folder of the recordings. */
  readonly recordings: string
  readonly dataFolder: string
  /** Live captures. */
  readonly captures: () => Promise<readonly LiveCapture[]>
  readonly store: ObjectStore
  /** Name of the store in marks. */
  readonly target: string
  readonly encoding: Encoding
  /** Version of wiretape. */
  readonly version: string
  readonly signal?: AbortSignal
  /** Called once the sealed segments are known. @param reportNow returns the report so far; valid until the pass ends */
  readonly onStart?: (reportNow: () => ShipReport) => void
}

/** Finished segments that are not in the store. */
export interface Waiting {
  readonly waiting: number
  readonly waitingBytes: number
  /** End or last write of the oldest one; null when none waits. */
  readonly oldestWaiting: string | null
}

/** Result of a pass over the recordings. */
export interface ShipReport extends Waiting {
  readonly shipped: number
  /** Uncompressed. */
  readonly shippedBytes: number
  /** Bytes sent to the store. */
  readonly sentBytes: number
  /** Segments that the store refused. */
  readonly refusals: number
  /** The last failure. */
  readonly trouble?: WiretapeError
}

/**
 * Uploads every sealed segment that is not in the store. The next pass resumes after any interruption: objects are
 * named by their content, the manifest comes last, and only then is a segment marked as shipped.
 */
export async function shipSegments(options: ShipOptions): Promise<ShipReport> {
  const { recordings, store, target, signal } = options
  const outgoing = join(options.dataFolder, 'outgoing')
  await removeAbandoned(outgoing)
  const { waiting } = await findFinished(recordings, await options.captures(), target)
  const left = new Set(waiting)
  const report = { shipped: 0, shippedBytes: 0, sentBytes: 0, refusals: 0 }
  let trouble: WiretapeError | undefined
  let inARow = 0
  const reportNow = (): ShipReport => ({ ...report, ...waitingOf([...left]), ...(trouble && { trouble }) })
  options.onStart?.(reportNow)
  for (const segment of waiting) {
    if (signal?.aborted) break
    try {
      const { manifest, sentBytes } = await shipOne(segment, outgoing, options)
      left.delete(segment)
      inARow = 0
      report.shipped += 1
      report.shippedBytes += manifest.bytes
      report.sentBytes += sentBytes
    } catch (error) {
      if (sizeNow(segment.path) === undefined) {
        left.delete(segment)
        continue
      }
      trouble = failureOf(error, segment.path)
      if (trouble.code === 'refused') {
        report.refusals += 1
        if ((inARow += 1) < mostRefusals) continue
      } else if (trouble.code === 'unreadable') continue
      break
    }
  }
  return reportNow()

  function failureOf(error: unknown, path: string): WiretapeError {
    if (error instanceof WiretapeError) return error
    return new WiretapeError('unreadable', `cannot ship ${path} to ${store.address}: ${diskReason(error)}`, {
      cause: error,
    })
  }
}

/** The backlog of a store. */
export function waitingOf(segments: readonly FinishedSegment[]): Waiting {
  return {
    waiting: segments.length,
    waitingBytes: segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    oldestWaiting: segments.map(endedAt).toSorted()[0] ?? null,
  }
}

async function shipOne(
  segment: FinishedSegment,
  outgoing: string,
  { store, dataFolder, target, encoding, version }: ShipOptions,
): Promise<{ manifest: Manifest; sentBytes: number }> {
  const known = await knownIn(store, segment)
  if (known) {
    await mark(segment, known, target)
    await countShipped({ dataFolder, target, version }, known, 0).catch(() => undefined)
    return { manifest: known, sentBytes: 0 }
  }
  const said = segment.end?.wiretape?.messages
  const sealed = await sealBytes(segment.path, outgoing, encoding, said === undefined)
  try {
    const own = manifestOf(segment, sealed, said ?? sealed.messages, version)
    const { manifest, sentBytes } = await upload(own, sealed, store)
    const text = Buffer.from(JSON.stringify(manifest))
    await store.announce?.(manifest.host, manifest.hash, text, sentBytes > 0)
    await mark(segment, manifest, target)
    // Only counters: without them, the segment is shipped nevertheless.
    await countShipped({ dataFolder, target, version }, manifest, sentBytes).catch(() => undefined)
    return { manifest, sentBytes }
  } finally {
    if ('path' in sealed.content) await rm(sealed.content.path, { force: true }).catch(() => undefined)
  }
}

/**
 * The manifest of a segment that a mark of another store names, if this one has it too: it needs no compression then. The mark may also be
 * from a version that did not tell endpoints apart. A bus deletes collected segments, so it is not asked.
 */
async function knownIn(
  store: ObjectStore,
  { path, sizeBytes }: FinishedSegment,
): Promise<Manifest | undefined> {
  const before = store.announce ? undefined : readShippedMark(path)
  return before && isUnchanged(path, before, sizeBytes) ? manifestIn(store, before.hash) : undefined
}

/** Returns the manifest in the store, which may be from an earlier attempt. */
async function upload(
  own: Manifest,
  { content, compressedBytes }: SealedBytes,
  store: ObjectStore,
): Promise<{ manifest: Manifest; sentBytes: number }> {
  const earlier = await manifestIn(store, own.hash)
  if (earlier) return { manifest: earlier, sentBytes: 0 }
  const key = segmentKey(own)
  let sentBytes = compressedBytes
  if ((await store.put(key, content, { ifAbsent: true })) === 'there') {
    // Left by an interrupted attempt, perhaps with another version of the compressor.
    if ((await store.head(key))?.size === compressedBytes) sentBytes = 0
    else await store.put(key, content)
  }
  const text = Buffer.from(JSON.stringify(own))
  await store.put(manifestKey(own.hash), text, { ifAbsent: true })
  return { manifest: own, sentBytes: sentBytes + text.length }
}

/** Also undefined if the credentials are write-only. */
async function manifestIn(store: ObjectStore, hash: string): Promise<Manifest | undefined> {
  try {
    const key = manifestKey(hash)
    if (!(await store.head(key))) return undefined
    return decodeManifest(Buffer.from(await bytesOf(store.get(key))).toString())
  } catch (error) {
    if (error instanceof WiretapeError && error.code !== 'unreachable') return undefined
    throw error
  }
}

function manifestOf(
  segment: FinishedSegment,
  { hash, bytes, encoding, compressedBytes, members, gaps, lost }: SealedBytes,
  messages: number,
  version: string,
): Manifest {
  const { meta } = segment
  return {
    v: 1,
    hash,
    bytes,
    encoding,
    compressedBytes,
    members,
    session: segment.session,
    segment: segment.segment,
    startedAt: meta.startedAt,
    endedAt: endedAt(segment),
    messages,
    gaps,
    lost,
    ...whoAmI(),
    label: meta.label,
    server: {
      transport: meta.wiretape?.transport ?? null,
      command: [...meta.command],
      url: meta.wiretape?.url ?? null,
    },
    wiretape: version,
    shippedAt: new Date().toISOString(),
  }
}

/** A truncated segment ended with its last write. */
function endedAt({ path, end }: FinishedSegment): string {
  if (end?.t !== undefined) return end.t
  const ms = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return new Date(ms ?? 0).toISOString()
}

async function mark(segment: FinishedSegment, manifest: Manifest, target: string): Promise<void> {
  const before = readShippedMark(segment.path)
  const others = before?.hash === manifest.hash ? before.targets : []
  const next: ShippedMark = {
    v: 1,
    session: segment.session,
    segment: segment.segment,
    hash: manifest.hash,
    bytes: manifest.bytes,
    targets: [...new Set([...others, target])],
  }
  await replaceFile(shippedMarkPath(segment.path), `${JSON.stringify(next)}\n`)
}

/** Removes leftovers of killed shippers. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    if (name.endsWith('.part') && (await isAbandoned(path, name))) await rm(path, { force: true })
  }
}
