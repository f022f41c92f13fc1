import { channels, type Channel } from './channel.js'
import { Marks } from './marks.js'
import { bufferOf, copyBytes, type RegionPool } from './region-pool.js'

/** Values per chunk in `marks`. */
export const markSize = 4

/** Chunks of the three channels in order of arrival. Shared by two threads. */
export interface ChunkBatch {
  /** The bytes of each channel, chunk after chunk. Channels without bytes are absent. */
  readonly regions: Partial<Record<Channel, Uint8Array>>
  /** For each chunk: index of its channel, us, wallMs, length in bytes. */
  readonly marks: Float64Array
}

/**
 * Collects chunks into batches. Chunks in regions of the pool stay there, one after the other; others are copied at once,
 * so that they are freed early.
 */
export class BatchFiller {
  readonly #pool: RegionPool
  #regions: (Buffer | undefined)[] = []
  #isInPlace = [false, false, false]
  #used = [0, 0, 0]
  readonly #marks = new Marks()
  #sizeBytes = 0

  constructor(pool: RegionPool) {
    this.#pool = pool
  }

  /** Bytes of the current batch. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get isEmpty(): boolean {
    return this.#marks.length === 0
  }

  /** False when the batch must be taken before this chunk can be added. */
  fits(channel: Channel, { buffer, byteOffset, length }: Uint8Array): boolean {
    const at = channels.indexOf(channel)
    const region = this.#regions[at]
    if (region === undefined) return true
    const used = this.#used[at]!
    if (this.#isInPlace[at]) return buffer === region.buffer && byteOffset === region.byteOffset + used
    return !this.#pool.has(buffer) && used + length <= region.length
  }

  add(channel: Channel, chunk: Uint8Array, us: number, wallMs: number): void {
    const at = channels.indexOf(channel)
    const region = (this.#regions[at] ??= this.#begin(at, chunk))
    if (!this.#isInPlace[at]) copyBytes(chunk, region, this.#used[at]!)
    this.#used[at]! += chunk.length
    this.#sizeBytes += chunk.length
    const marks = this.#marks
    marks.push(at)
    marks.push(us)
    marks.push(wallMs)
    marks.push(chunk.length)
  }

  #begin(at: number, { buffer, byteOffset, length }: Uint8Array): Buffer {
    const isInPlace = (this.#isInPlace[at] = this.#pool.has(buffer))
    if (!isInPlace) return bufferOf(this.#pool.take(length))
    this.#pool.keep(buffer)
    return Buffer.from(buffer, byteOffset)
  }

  /** Returns all added chunks and begins a new batch. */
  take(): ChunkBatch {
    const regions: Partial<Record<Channel, Uint8Array>> = {}
    const marks = this.#marks.copy()
    for (const [at, channel] of channels.entries()) {
      const region = this.#regions[at]
      if (region) regions[channel] = region.subarray(0, this.#used[at])
    }
    this.drop()
    return { regions, marks }
  }

  /** Discards the current batch. */
  drop(): void {
    this.#regions = []
    this.#used = [0, 0, 0]
    this.#marks.drop()
    this.#sizeBytes = 0
  }
}

/** The memory of a processed batch. */
export function buffersOf(batch: ChunkBatch): ArrayBufferLike[] {
  return Object.values(batch.regions).map((region) => region.buffer)
}
