/** Bytes of a region. Small enough that progress shows on a slow disk. */
export const regionBytes = 512 * 1024
/** Regions kept for the next batches; more are in use only while the recording side lags. */
const regionsKept = 6

/**
 * Memory for batches, used again when they were dealt with: at hundreds of MB/s, collecting garbage is what costs. Both
 * threads see it: what a recording thread was at work on when it died is still here, to be counted, and what it had not
 * begun goes to the next one.
 */
export class RegionPool {
  readonly #free: SharedArrayBuffer[] = []

  take(atLeastBytes: number): Uint8Array<SharedArrayBuffer> {
    const free = atLeastBytes <= regionBytes ? this.#free.pop() : undefined
    return new Uint8Array(free ?? new SharedArrayBuffer(Math.max(regionBytes, atLeastBytes)))
  }

  giveBack(buffers: readonly ArrayBufferLike[]): void {
    for (const buffer of buffers) {
      if (!(buffer instanceof SharedArrayBuffer)) continue
      if (buffer.byteLength === regionBytes && this.#free.length < regionsKept) this.#free.push(buffer)
    }
  }
}

/**
 * Copies bytes, of which either side may be memory that threads share: the engine's own `set` takes a hundred times as
 * long there, byte by byte, while `fill` with as many bytes as there is room for is one plain copy.
 */
export function copyBytes(source: Uint8Array, target: Buffer, at: number): void {
  if (source.length > 0) target.fill(source, at, at + source.length)
}

/** A copy of memory that threads share, to work with: good until the next one is made. */
export class Scratch {
  #memory = Buffer.alloc(0)

  copyOf(bytes: Uint8Array): Buffer {
    if (this.#memory.length < bytes.length)
      this.#memory = Buffer.allocUnsafeSlow(Math.max(regionBytes, bytes.length))
    copyBytes(bytes, this.#memory, 0)
    return this.#memory.subarray(0, bytes.length)
  }
}
