import type { ReadMemory } from '../transports/index.js'
import { bufferOf, regionBytes, type RegionPool } from './region-pool.js'

/** The most bytes of a read. */
const roomBytes = 64 * 1024
/** Bytes after which the first region is left. The next one is left after twice as many, and so on. */
const firstBytes = 16 * 1024

/** Memory that bytes are read into, so that the recording thread gets them without a copy. */
export class PooledMemory implements ReadMemory {
  readonly #pool: RegionPool
  #region: Buffer | undefined
  #at = 0
  /** Bytes after which the region is left. Few at first: the engine sees such a change before it optimizes this code. */
  #leaveAt = firstBytes

  constructor(pool: RegionPool) {
    this.#pool = pool
  }

  room(): Buffer {
    if (!this.#region || this.#at > this.#leaveAt) {
      if (this.#region) {
        this.release(this.#region)
        this.#leaveAt = Math.min(2 * this.#leaveAt, regionBytes - roomBytes)
      }
      this.#region = bufferOf(this.#pool.take(roomBytes))
      this.#at = 0
    }
    return this.#region.subarray(this.#at, this.#at + roomBytes)
  }

  filled(sizeBytes: number): void {
    this.#at += sizeBytes
  }

  keep(bytes: Uint8Array): void {
    this.#pool.keep(bytes.buffer)
  }

  release(bytes: Uint8Array): void {
    this.#pool.giveBack([bytes.buffer], true)
  }
}
