import { ByteWriter } from 'hyparquet-writer'

/** Pieces from this size on are not copied. */
const wholeBytes = 4_096

/** Collects the pieces of a file. Does not copy large ones, so their arrays must not change until they are written. */
export class ChunkWriter extends ByteWriter {
  readonly #chunks: Uint8Array[] = []

  override appendBytes(bytes: Uint8Array): void {
    if (bytes.length < wholeBytes) return super.appendBytes(bytes)
    this.#cut()
    this.#chunks.push(bytes)
    this.offset += bytes.length
  }

  /** All pieces so far. */
  chunks(): readonly Uint8Array[] {
    this.#cut()
    return this.#chunks
  }

  #cut(): void {
    if (this.index > 0) this.#chunks.push(this.getBytes().slice())
    this.index = 0
  }
}
