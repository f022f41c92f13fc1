import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  decodeManifest,
  manifestKey,
  manifestTrouble,
  segmentKey,
  type Manifest,
  type ObjectStore,
} from '../../ship/index.js'
import { Attempts, mayBeInProgress, type FailedAttempts } from './attempts.js'
import { noCounts } from './collector-metrics.js'
import { hashIn, writeDeadLetter } from './dead-letter.js'
import { fetchSegment, type FetchedSegment } from './fetch-segment.js'
import { IndexBatch } from './index-batch.js'
import { indexedKey } from './keys.js'
import { indexFailure, reasonOf, rowsOf } from './segment-rows.js'
import type { Delivery, SegmentSource } from './source.js'

/** Segments processed concurrently. */
const lanes = 8
/** Uncompressed bytes of these; a larger segment is processed alone. */
const mostBytesInWork = 8 << 20
/** Deliveries per request. */
const mostDeliveries = 64
/** Attempts that fail because of the segment: its download may have been truncated, or the process ended for another reason. */
const usualAttempts = 3
const againMs = 5_000
/** Reading a segment and writing its batch may take this long. */
const commitMs = 60_000
/** With `once`, this many polls in turn that fail end the run. */
const mostFailures = 30
/** Pause before a store lists again what is in progress. */
const busyMs = 1_000

export interface CollectorOptions {
  readonly source: SegmentSource
  readonly target: ObjectStore
  /** Source and target are the same store, so nothing is copied. */
  readonly isSameStore: boolean
  /** Private folder for segments being read. */
  readonly folder: string
  /** A batch is written at this many rows, */
  readonly batchRows: number
  /** this many segments */
  readonly batchSegments: number
  /** or this age. */
  readonly batchAgeMs: number
  /** Attempts before a segment becomes a dead letter. @default 3 */
  readonly mostAttempts?: number
  /** Pause after the source failed. @default 1 s */
  readonly failedPauseMs?: number
  readonly now: () => number
  /** Reports a failing store or an unreadable segment to the user. */
  readonly complain: (message: string) => Promise<void> | void
  readonly onBatch?: (batch: WrittenBatch) => Promise<void> | void
}

export interface WrittenBatch {
  readonly id: string
  readonly segments: number
  readonly messages: number
  readonly bytes: number
}

interface Held {
  readonly delivery: Delivery
  readonly manifest: Manifest
  /** Failed attempts before this one; undefined if this one was not counted. */
  readonly before: FailedAttempts | undefined
}

/**
 * Copies sealed segments from a source to a store: segment and manifest unchanged, then their rows, as one Parquet file for each
 * day and server of a batch. A delivery is acknowledged once its batch is committed, so a collector may be killed at any time.
 */
export class Collector {
  readonly counts = noCounts()
  readonly #options: CollectorOptions
  readonly #attempts: Attempts
  readonly #mostAttempts: number
  readonly #inFlight = new Map<string, Delivery>()
  #batch = new IndexBatch()
  #held: Held[] = []
  #batchStartMs = 0
  #bytesInWork = 0
  #waiting: (() => void)[] = []
  /** Failed requests to the source, and the last error. */
  #failures = 0
  #failure: unknown

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#attempts = new Attempts(options.target)
    this.#mostAttempts = options.mostAttempts ?? usualAttempts
  }

  /**
   * Runs until aborted; with `once`, until nothing is left. Commits all collected segments before it returns.
   *
   * @throws with `once`, the error of a source that keeps failing
   */
  async run(signal: AbortSignal, once: boolean): Promise<void> {
    const { source, failedPauseMs = busyMs } = this.#options
    let failedPolls = 0
    const timer = setInterval(() => {
      for (const delivery of this.#inFlight.values()) delivery.working()
    }, source.workingMs)
    try {
      while (!signal.aborted) {
        const failures = this.#failures
        const taken = await this.step()
        if (taken > 0) {
          failedPolls = 0
          continue
        }
        if (once) {
          await this.commit()
          if ((await this.#attempted(() => source.waiting())) === 0) break
        }
        failedPolls = this.#failures > failures ? failedPolls + 1 : 0
        if (once && failedPolls === mostFailures) throw this.#failure
        // A store lists what is in progress again at once.
        const ms = failedPolls > 0 ? failedPauseMs : source.isQueue ? 0 : busyMs
        if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined)
      }
      await this.commit()
    } finally {
      clearInterval(timer)
    }
  }

  /** Polls the source once. Returns the number of deliveries that are not in progress already. */
  async step(waitMs = 1_000): Promise<number> {
    await this.#attempts.takeBackRest()
    const deliveries = await this.#attempted(() => this.#options.source.next(mostDeliveries, waitMs))
    const queue = (deliveries ?? []).values()
    let taken = 0
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        for (const delivery of queue) {
          if (await this.#take(delivery)) taken += 1
          if (this.#isFull()) await this.commit()
        }
      }),
    )
    if (this.#held.length > 0 && this.#options.now() - this.#batchStartMs >= this.#options.batchAgeMs)
      await this.commit()
    return taken
  }

  /** Writes the batch. On failure, its deliveries are repeated. */
  async commit(): Promise<void> {
    const [batch, held] = [this.#batch, this.#held]
    if (held.length === 0) return
    this.#batch = new IndexBatch()
    this.#held = []
    const { target, onBatch } = this.#options
    try {
      await batch.write(target)
    } catch (error) {
      await this.#again(held)
      return this.#failed(error)
    }
    const written = { segments: held.length, messages: batch.rows, bytes: 0 }
    const queue = held.values()
    await Promise.all(
      Array.from({ length: lanes * 2 }, async () => {
        for (const { delivery, manifest, before } of queue) {
          written.bytes += manifest.compressedBytes
          this.counts.lost += manifest.lost
          this.counts.gaps += manifest.gaps
          // Without the mark, the segment would only be read again; its first batch counts.
          await target
            .put(indexedKey(manifest.hash), Buffer.from(batch.id))
            .then(() => before && this.#attempts.clear(manifest.hash))
            .then(() => this.#finish(delivery, manifest))
            .catch((error: unknown) => this.#failed(error))
          this.#inFlight.delete(manifest.hash)
        }
      }),
    )
    this.counts.segments += written.segments
    this.counts.messages += written.messages
    this.counts.bytes += written.bytes
    await onBatch?.({ id: batch.id, ...written })
  }

  /** Requests redelivery of segments that are not the cause of a failure. */
  async #again(held: readonly Held[]): Promise<void> {
    for (const { delivery, manifest, before } of held) {
      this.#inFlight.delete(manifest.hash)
      if (before) await this.#attempts.takeBack(manifest.hash, before)
      delivery.again(againMs)
    }
  }

  #isFull(): boolean {
    const { batchRows, batchSegments } = this.#options
    return this.#batch.rows >= batchRows || this.#held.length >= batchSegments
  }

  async #take(delivery: Delivery): Promise<boolean> {
    const { source, target, batchAgeMs } = this.#options
    const text = Buffer.from(delivery.manifest).toString('utf8')
    const manifest = decodeManifest(text)
    if (!manifest) {
      const hash = delivery.hash ?? hashIn(text) ?? createHash('sha256').update(text).digest('hex')
      await this.#guarded(delivery, () => this.#bury(delivery, hash, manifestTrouble(text)))
      return true
    }
    const { hash } = manifest
    if (delivery.hash !== undefined && delivery.hash !== hash) {
      await this.#guarded(delivery, () =>
        this.#bury(delivery, delivery.hash!, 'its manifest names another segment'),
      )
      return true
    }
    // The segment was delivered again while in progress here.
    if (this.#inFlight.has(hash)) {
      delivery.again(againMs)
      return false
    }
    this.#inFlight.set(hash, delivery)
    let [isHeld, isTaken] = [false, true]
    await this.#guarded(delivery, async () => {
      const before = await this.#before(delivery, hash)
      if (await target.head(indexedKey(hash))) {
        this.counts.repeated += 1
        if (before && before.count > 0) await this.#attempts.clear(hash)
        return this.#finish(delivery, manifest)
      }
      if (!source.isQueue && before && mayBeInProgress(before, batchAgeMs + commitMs)) {
        isTaken = false
        return delivery.again(againMs)
      }
      if (before && before.count >= this.#mostAttempts)
        return this.#bury(
          delivery,
          hash,
          before.reason ?? `${before.count} collectors exited while reading it`,
        )
      isHeld = await this.#collect(delivery, manifest, before)
    })
    if (!isHeld) this.#inFlight.delete(hash)
    return isTaken
  }

  /** Undefined for the first delivery of a bus. A store without a bus does not say which delivery it is. */
  async #before(delivery: Delivery, hash: string): Promise<FailedAttempts | undefined> {
    return this.#options.source.isQueue && delivery.attempt === 1 ? undefined : this.#attempts.of(hash)
  }

  /** Returns whether it was added to the batch. */
  async #collect(
    delivery: Delivery,
    manifest: Manifest,
    before: FailedAttempts | undefined,
  ): Promise<boolean> {
    // Alone, and in a batch of its own: if it ends the process again, no other segment is blamed.
    const isSuspect = before !== undefined && before.count > 0
    const room = Math.max(manifest.bytes, isSuspect ? mostBytesInWork + 1 : 0)
    await this.#room(room)
    try {
      if (isSuspect) await this.commit()
      const isHeld = await this.#read(delivery, manifest, before)
      if (isSuspect) await this.commit()
      return isHeld
    } finally {
      this.#bytesInWork -= room
      for (const go of this.#waiting.splice(0)) go()
    }
  }

  async #read(delivery: Delivery, manifest: Manifest, before: FailedAttempts | undefined): Promise<boolean> {
    const { source, isSameStore } = this.#options
    const { hash } = manifest
    const folder = await mkdtemp(join(this.#options.folder, 'segment-'))
    try {
      if (before) await this.#attempts.set(hash, { count: before.count + 1 })
      const fetched = await fetchSegment(source.store, manifest, folder)
      if (!isSameStore) await this.#copy(fetched, delivery, manifest)
      const rows = await rowsOf(fetched.plain, manifest)
      if (this.#held.length === 0) this.#batchStartMs = this.#options.now()
      try {
        this.#batch.add(rows, manifest)
        this.#held.push({ delivery, manifest, before })
      } catch (error) {
        await this.#discard()
        throw indexFailure(error)
      }
      return true
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) {
        if (before) await this.#attempts.takeBack(hash, before)
        throw error
      }
      await this.#unreadable(delivery, manifest, (before?.count ?? 0) + 1, reason)
      return false
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Discards a batch that may hold some rows of a segment; its deliveries are repeated. */
  async #discard(): Promise<void> {
    const held = this.#held
    this.#batch = new IndexBatch()
    this.#held = []
    await this.#again(held)
  }

  async #unreadable(delivery: Delivery, manifest: Manifest, count: number, reason: string): Promise<void> {
    // Another collector may have been faster and have deleted it from the queue.
    if (await this.#options.target.head(indexedKey(manifest.hash))) {
      await this.#attempts.clear(manifest.hash)
      return this.#finish(delivery, manifest)
    }
    if (count >= this.#mostAttempts) return this.#bury(delivery, manifest.hash, reason)
    await this.#attempts.set(manifest.hash, { count, reason })
    delivery.again(againMs)
  }

  /** Waits until this many more bytes may be processed. */
  async #room(bytes: number): Promise<void> {
    while (this.#bytesInWork > 0 && this.#bytesInWork + bytes > mostBytesInWork)
      await new Promise<void>((go) => this.#waiting.push(go))
    this.#bytesInWork += bytes
  }

  async #copy({ packed, packedBytes }: FetchedSegment, { manifest: text }: Delivery, manifest: Manifest) {
    const { target } = this.#options
    await target.put(segmentKey(manifest), { path: packed, size: packedBytes }, { ifAbsent: true })
    await target.put(manifestKey(manifest.hash), text, { ifAbsent: true })
  }

  async #finish(delivery: Delivery, manifest: Manifest): Promise<void> {
    const { source } = this.#options
    if (source.isQueue) {
      await source.store.delete(manifestKey(manifest.hash))
      await source.store.delete(segmentKey(manifest))
    }
    await delivery.done()
  }

  async #bury(delivery: Delivery, hash: string, reason: string): Promise<void> {
    const { source, target, folder, isSameStore, complain } = this.#options
    const letter = { hash, reason, manifest: Buffer.from(delivery.manifest).toString('utf8') }
    const keys = await writeDeadLetter(isSameStore ? undefined : source.store, target, letter, folder)
    // A bus that kept it would fill up.
    if (source.isQueue) for (const key of keys) await source.store.delete(key)
    await this.#attempts.clear(hash)
    this.counts.dead += 1
    await delivery.done()
    await complain(`segment ${hash.slice(0, 12)} cannot be read: ${reason}; it is in dead/`)
  }

  async #guarded(delivery: Delivery, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      delivery.again(againMs)
      await this.#failed(error)
    }
  }

  /** Undefined if the store or the bus failed. */
  async #attempted<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#failures += 1
      this.#failure = error
      await this.#failed(error)
      return undefined
    }
  }

  async #failed(error: unknown): Promise<void> {
    this.counts.failed += 1
    await this.#options.complain(error instanceof Error ? error.message : String(error))
  }
}
