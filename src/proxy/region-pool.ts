/** Bytes of a region. Small enough that progress shows on a slow disk. */
export const regionBytes = 512 * 1024
/** Regions kept for the next batches; more are in use only while the recording side lags. */
const regionsKept = 6

/**
 * Memory for batches, used again when they were dealt with: at hundreds of MB/s, collecting garbage is what costs.
 */
export class RegionPool {
  readonly #free: ArrayBuffer[] = []

  take(atLeastBytes: number): Uint8Array<ArrayBuffer> {
    const free = atLeastBytes <= regionBytes ? this.#free.pop() : undefined
    // Not zeroed: only what was written is ever read.
    return free ? new Uint8Array(free) : Buffer.allocUnsafeSlow(Math.max(regionBytes, atLeastBytes))
  }

  giveBack(buffers: readonly ArrayBuffer[]): void {
    for (const buffer of buffers) {
      if (buffer.byteLength === regionBytes && this.#free.length < regionsKept) this.#free.push(buffer)
    }
  }
}
