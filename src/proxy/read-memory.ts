import type { ReadMemory } from '../transports/index.js'
import { bufferOf, type RegionPool } from './region-pool.js'

/** The most bytes of a read. */
const roomBytes = 64 * 1024

/** Memory that bytes are read into, so that the recording thread gets them without a copy. */
export class PooledMemory implements ReadMemory {
  readonly #pool: RegionPool
  #region: Buffer | undefined
  #at = 0

  constructor(pool: RegionPool) {
    this.#pool = pool
  }

  room(): Buffer {
    if (!this.#region || this.#region.length - this.#at < roomBytes) {
      if (this.#region) this.release(this.#region)
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
