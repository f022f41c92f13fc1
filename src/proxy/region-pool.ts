/** Size of a region in bytes. Small enough that progress is visible on a slow disk. */
export const regionBytes = 512 * 1024
/** Regions kept for later batches. More are kept only while the recording side is behind. */
const regionsKept = 6

/**
 * Reusable memory for batches: at hundreds of MB/s, garbage collection is the main cost. Both threads share it. When a
 * recording thread dies, the batch it was processing can still be counted, and the batches it had not begun go to its
 * replacement.
 */
export class RegionPool {
  readonly #free: SharedArrayBuffer[] = []
  /** The number of users of each region in use. A region that is never given back, after a failure, is garbage. */
  readonly #users = new WeakMap<ArrayBufferLike, number>()

  /** A region with one user. */
  take(atLeastBytes: number): Uint8Array<SharedArrayBuffer> {
    const free = atLeastBytes <= regionBytes ? this.#free.pop() : undefined
    const buffer = free ?? new SharedArrayBuffer(Math.max(regionBytes, atLeastBytes))
    this.#users.set(buffer, 1)
    return new Uint8Array(buffer)
  }

  /** Whether the memory is a region in use. */
  has(buffer: ArrayBufferLike): boolean {
    return this.#users.has(buffer)
  }

  /** Adds a user of a region, who gives it back too. Other memory is ignored. */
  keep(buffer: ArrayBufferLike): void {
    const users = this.#users.get(buffer)
    if (users !== undefined) this.#users.set(buffer, users + 1)
  }

  /** @param isBehind more batches wait: soon as many regions will be needed again. New ones would be filled with zeros */
  giveBack(buffers: readonly ArrayBufferLike[], isBehind = false): void {
    for (const buffer of buffers) {
      const users = this.#users.get(buffer)
      if (users === undefined) continue
      if (users > 1) this.#users.set(buffer, users - 1)
      else {
        this.#users.delete(buffer)
        if (buffer instanceof SharedArrayBuffer && buffer.byteLength === regionBytes) this.#free.push(buffer)
      }
    }
    if (!isBehind && this.#free.length > regionsKept) this.#free.pop()
  }
}

/**
 * Copies bytes where either side may be shared memory. The engine's own `set` is a hundred times slower there, because
 * it copies byte by byte, while `fill` with a source of exactly the target's size is one plain copy.
 */
export function copyBytes(source: Uint8Array, target: Buffer, at: number): void {
  if (source.length > 0) target.fill(source, at, at + source.length)
}

export function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** A working copy of shared memory. Valid until the next copy. */
export class Scratch {
  #memory = Buffer.alloc(0)

  copyOf(bytes: Uint8Array): Buffer {
    if (this.#memory.length < bytes.length)
      this.#memory = Buffer.allocUnsafeSlow(Math.max(regionBytes, bytes.length))
    copyBytes(bytes, this.#memory, 0)
    return this.#memory.subarray(0, bytes.length)
  }
}
