import type { JetStreamClient, JetStreamManager, PubAck } from '@nats-io/jetstream'
import type { ObjectInfo, ObjectStore as Bucket } from '@nats-io/obj'
import type { NatsConnection } from '@nats-io/transport-node'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { decodeManifest, manifestKey } from '../manifest.js'
import { bytesOf, checkKey, noSuchObject, type Content, type ObjectStore } from './object-store.js'
import { hasAllChunks, objectEntries, readChunks, removeObject } from './jetstream-chunks.js'
import { connectNats, loadNats, natsFailure, type NatsFiles, type NatsPackages } from './nats-connection.js'

export const defaultBucket = 'wiretape-segments'
/** The server drops repeated announcements of a manifest within this time. */
const duplicateWindowHours = 24
/** Older announcements are dropped, and the oldest ones beyond this size. Collectors repeat those of segments that are still waiting. */
const announcementDays = 7
/** Room for the headers of an announcement. */
const headerBytes = 1_024
const mostAnnouncementBytes = 256 * 1024 * 1024

/** The stream that announces the sealed segments of a bucket to its collectors. */
export interface SealedStream {
  readonly name: string
  /** All subjects: one for each host. */
  readonly subjects: string
}

/** Other buckets have their own stream: a collector finds the segments of one bucket only. */
export function sealedStreamOf(bucket: string): SealedStream {
  return bucket === defaultBucket
    ? { name: 'WIRETAPE', subjects: 'wiretape.sealed.>' }
    : { name: `WIRETAPE-${bucket}`, subjects: `wiretape-${bucket}.sealed.>` }
}

/** Dots in host names would be subject levels. */
function subjectOf({ subjects }: SealedStream, host: string): string {
  return subjects.replace('>', host.replaceAll(/[^\w-]/g, '_') || '_')
}

/** A bucket of a JetStream Object Store, and the stream that announces complete segments. */
export interface JetStreamStore extends ObjectStore {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly sealed: SealedStream
  /** Creates the stream of announcements unless it exists. */
  ensureStream(): Promise<void>
  /**
   * Announces the complete segments of the bucket that were stored before a time, since their announcements may have been dropped.
   *
   * @param before by the server's clock; undefined for all
   * @param round the server drops repetitions within the same round, so that several collectors announce a segment once
   * @returns their number
   */
  announceAgain(before: Date | undefined, round: string, signal: AbortSignal): Promise<number>
}

/** @throws WiretapeError `usage`, `unreachable`, `refused`, `unreadable` */
export async function openJetStreamStore(
  servers: readonly string[],
  bucketName: string,
  files: NatsFiles,
): Promise<JetStreamStore> {
  const packages = await loadNats()
  const connection = await connectNats(packages, servers, files)
  const address = `nats://${servers.map((server) => server.replace(/^[a-z]+:\/\//, '')).join(',')}/${bucketName}`
  try {
    const jetstream = packages.jetstream.jetstream(connection)
    const manager = await packages.jetstream.jetstreamManager(connection)
    const bucket = await bucketOf(packages, connection, bucketName)
    const store = storeOf(bucket, address, connection, manager)
    const sealed = sealedStreamOf(bucketName)
    /** The server refuses large messages: the manifest of a large segment is announced by its key. */
    const publish = (host: string, message: Uint8Array, key: string, msgID: string): Promise<PubAck> => {
      const most = (connection.info?.max_payload ?? 1_048_576) - headerBytes
      const text = message.length > most ? Buffer.from(JSON.stringify({ v: 1, manifest: key })) : message
      return jetstream.publish(subjectOf(sealed, host), text, { msgID })
    }
    return {
      ...store,
      connection,
      jetstream,
      manager,
      sealed,
      ensureStream: () => ensureSealedStream(packages, manager, sealed),
      async announce(host, id, message, isStored) {
        const said = (msgID: string): Promise<PubAck> => publish(host, message, manifestKey(id), msgID)
        try {
          const { duplicate } = await said(id).catch(async () => {
            await ensureSealedStream(packages, manager, sealed)
            return said(id)
          })
          if (duplicate && isStored) await said(`${id} ${new Date().toISOString()}`)
        } catch (cause) {
          throw natsFailure(cause, `${address}: cannot announce a segment`)
        }
      },
      async announceAgain(before, round, signal) {
        let count = 0
        try {
          for await (const { name, storedAt } of objectEntries(jetstream, bucketName)) {
            signal.throwIfAborted()
            const hash = /^segments\/[0-9a-f]{2}\/([0-9a-f]{64})\.json$/.exec(name)?.[1]
            if (hash === undefined || (before && storedAt >= before)) continue
            // Collected in the meantime: it needs no announcement.
            const text = await bytesOf(store.get(name)).catch(() => undefined)
            if (!text) continue
            const host = decodeManifest(Buffer.from(text).toString())?.host ?? ''
            const { duplicate } = await publish(host, text, name, `${hash} ${round}`)
            if (!duplicate) count += 1
          }
        } catch (cause) {
          throw natsFailure(cause, `${address}: cannot announce the waiting segments`)
        }
        return count
      },
    }
  } catch (cause) {
    await connection.close().catch(() => undefined)
    throw natsFailure(cause, `no Object Store at ${address}`)
  }
}

async function bucketOf(
  { obj, jetstream }: NatsPackages,
  connection: NatsConnection,
  name: string,
): Promise<Bucket> {
  const buckets = new obj.Objm(connection)
  try {
    return await buckets.open(name)
  } catch (error) {
    // Without the permission to create a bucket, the first error is more useful.
    try {
      return await buckets.create(name, { storage: jetstream.StorageType.File })
    } catch {
      throw error
    }
  }
}

function storeOf(
  bucket: Bucket,
  address: string,
  connection: NatsConnection,
  manager: JetStreamManager,
): ObjectStore {
  /** An object exists only if all of its chunks do. */
  async function complete(name: string): Promise<ObjectInfo | undefined> {
    const found = await bucket.info(name)
    return found && !found.deleted && (await hasAllChunks(manager, found)) ? found : undefined
  }
  async function said<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw natsFailure(cause, `${address}: ${what}`)
    }
  }
  return {
    kind: 'jetstream',
    address,
    put: (key, content, { ifAbsent = false } = {}) =>
      said(`cannot write ${key}`, async () => {
        const name = checkKey(key)
        const there = ifAbsent ? await bucket.info(name) : null
        if (there && !there.deleted && (await hasAllChunks(manager, there))) return 'there'
        try {
          await bucket.put(
            { name },
            streamOf(content),
            ifAbsent ? { previousRevision: there?.revision ?? 0 } : {},
          )
          return 'stored'
        } catch (error) {
          // Another writer was first.
          if (ifAbsent && (await complete(name))) return 'there'
          throw error
        }
      }),
    async *get(key, range) {
      const found = await said(`cannot read ${key}`, () => bucket.info(checkKey(key)))
      if (!found || found.deleted) throw noSuchObject(key, address)
      const from = range?.at ?? 0
      const to = range ? range.at + range.length : Infinity
      let at = 0
      try {
        // Chunks cannot be skipped; reading stops at the end of the range.
        for await (const chunk of readChunks(manager, found)) {
          const part = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at))
          at += chunk.length
          if (part.length > 0) yield part
          if (at >= to) return
        }
      } catch (cause) {
        throw natsFailure(cause, `${address}: reading ${key} was interrupted`)
      }
    },
    head: (key) =>
      said(`cannot look up ${key}`, async () => {
        const found = await complete(checkKey(key))
        return found && { key, size: found.size }
      }),
    async *list(prefix) {
      const all = await said('cannot list', () => bucket.list())
      for (const { name, size, deleted } of all) {
        if (!deleted && name.startsWith(prefix)) yield { key: name, size }
      }
    },
    delete: (key) =>
      said(`cannot delete ${key}`, async () => {
        const found = await bucket.info(checkKey(key))
        if (found) await removeObject(manager, found)
      }),
    close: () => connection.close(),
  }
}

function streamOf(content: Content): ReadableStream<Uint8Array> {
  const from = content instanceof Uint8Array ? Readable.from([content]) : createReadStream(content.path)
  return Readable.toWeb(from) as ReadableStream<Uint8Array>
}

/** The first recorder or collector creates a missing stream. */
async function ensureSealedStream(
  { transport, jetstream }: NatsPackages,
  manager: JetStreamManager,
  { name, subjects }: SealedStream,
): Promise<void> {
  try {
    await manager.streams.info(name)
  } catch {
    await manager.streams.add({
      name,
      subjects: [subjects],
      storage: jetstream.StorageType.File,
      max_age: transport.nanos(announcementDays * 24 * 3_600_000),
      max_bytes: mostAnnouncementBytes,
      discard: jetstream.DiscardPolicy.Old,
      duplicate_window: transport.nanos(duplicateWindowHours * 3_600_000),
    })
  }
}
