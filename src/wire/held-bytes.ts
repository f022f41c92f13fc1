/** Smaller views are copied: a view costs more than the bytes it saves. */
const MIN_VIEW = 4096
const MIN_BLOCK = 512
const MAX_BLOCK = 65_536

/**
 * The bytes of an incomplete line. Memory stays proportional to `length`, however small the parts are and
 * however large their buffers: a part is kept as a view only if it is most of its buffer, and otherwise
 * copied into a block. Adding and taking are linear in the bytes.
 */
export class HeldBytes {
  readonly #smallestView: number
  #length = 0
  #lastByte = -1
  #parts: Uint8Array[] = []
  /** Filled from `#sealed` to `#used`. Earlier bytes are in `#parts`, or free. */
  #block = new Uint8Array(0)
  #sealed = 0
  #used = 0

  /** @param borrowed the buffers of parts are reused by their owner, so nothing is kept as a view */
  constructor(borrowed = false) {
    this.#smallestView = borrowed ? Infinity : MIN_VIEW
  }

  get length(): number {
    return this.#length
  }

  /** -1 when nothing is held. */
  get lastByte(): number {
    return this.#lastByte
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    if (bytes.length >= this.#smallestView && bytes.length * 2 >= bytes.buffer.byteLength) {
      this.#seal()
      this.#parts.push(bytes)
    } else {
      this.#copy(bytes)
    }
    this.#length += bytes.length
    this.#lastByte = bytes[bytes.length - 1] ?? -1
  }

  /** The first `length` bytes of the held bytes followed by `rest`, in a new buffer. */
  takeJoined(rest: Uint8Array, length: number): Uint8Array {
    this.#seal()
    const joined = new Uint8Array(length)
    let at = 0
    for (const part of [...this.#parts, rest]) {
      const wanted = part.length <= length - at ? part : part.subarray(0, length - at)
      joined.set(wanted, at)
      at += wanted.length
    }
    this.clear()
    return joined
  }

  /** The held bytes in order. The caller owns the parts. */
  takeParts(): Uint8Array[] {
    this.#seal()
    const parts = this.#parts
    this.#block = new Uint8Array(0)
    this.clear()
    return parts
  }

  clear(): void {
    this.#length = 0
    this.#lastByte = -1
    this.#parts = []
    this.#sealed = 0
    this.#used = 0
    if (this.#block.length > MAX_BLOCK) this.#block = new Uint8Array(0)
  }

  #copy(bytes: Uint8Array): void {
    const fits = Math.min(bytes.length, this.#block.length - this.#used)
    this.#block.set(fits === bytes.length ? bytes : bytes.subarray(0, fits), this.#used)
    this.#used += fits
    if (fits === bytes.length) return
    const rest = bytes.subarray(fits)
    this.#seal()
    const size = Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, this.#length))
    this.#block = new Uint8Array(Math.max(size, rest.length))
    this.#block.set(rest)
    this.#sealed = 0
    this.#used = rest.length
  }

  #seal(): void {
    if (this.#used > this.#sealed) this.#parts.push(this.#block.subarray(this.#sealed, this.#used))
    this.#sealed = this.#used
  }
}
