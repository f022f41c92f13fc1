import type { Redactor } from '../redaction/index.js'
import { nowhere, messageMemory, PlainMessage } from '../wire/index.js'
import { bufferOf, copyBytes, regionBytes } from './region-pool.js'

const LF = 0x0a
/** Longer messages take the general path, which knows the limits. A longer incomplete line is not kept. */
const longestPlain = 1024 * 1024
/** Enough for a batch and an incomplete line before it. */
const roomBytes = longestPlain + regionBytes
/** Longest id, method or name of a plain message, because their texts are remembered. */
const longestRemembered = 200

/** Whether id, method and name of a message are short. */
export function isUsual({
  idStart,
  idEnd,
  methodStart,
  methodEnd,
  subjectStart,
  subjectEnd,
}: PlainMessage): boolean {
  return Math.max(idEnd - idStart, methodEnd - methodStart, subjectEnd - subjectStart) <= longestRemembered
}

/** The lines of one channel, batch after batch. A line that crosses batches is complete in the last of them. */
export class BatchLines {
  readonly message = new PlainMessage()
  readonly #redactor: Redactor
  /** The incomplete line of the previous batch, and the batch. Valid until the next batch. */
  bytes: Buffer = Buffer.alloc(0)
  /** Of `bytes` in `messageMemory`, where messages are read fastest; `nowhere` while a batch is too large for it. */
  address = nowhere
  readonly #room: Buffer | undefined
  readonly #roomAddress: number
  /** Bytes in use. */
  length = 0
  /** Stream offset of the first byte. */
  #offset = 0
  /** Index after the last line feed. */
  #whole = 0
  /** Index of the first byte of the line. `end` is the index after its line feed; 0 until it is searched. */
  start = 0
  end = 0
  /** Whether the line is a message described by `message`, without anything to redact. */
  isPlain = false

  /** @param mayBePlain whether the channel has messages */
  constructor(redactor: Redactor, mayBePlain = true) {
    this.#redactor = redactor
    const room = mayBePlain ? messageMemory?.take(roomBytes) : undefined
    this.#room = room && bufferOf(room)
    this.#roomAddress = room?.byteOffset ?? nowhere
  }

  /** Copies a batch. Lines that were not passed with `next` are kept. @param offset of its first byte in the stream */
  begin(region: Uint8Array, offset: number): void {
    const kept = this.length - this.start
    const length = kept + region.length
    const room = this.#room && length <= this.#room.length ? this.#room : undefined
    if (room ? room !== this.bytes : length > this.bytes.length) this.#moveTo(room ?? largerFor(length))
    else if (this.start > 0 && kept > 0) this.bytes.copyWithin(0, this.start, this.length)
    copyBytes(region, this.bytes, kept)
    // Kept bytes contain no line feed.
    this.#whole = this.bytes.subarray(kept, length).lastIndexOf(LF) + 1
    if (this.#whole > 0) this.#whole += kept
    this.length = length
    this.#offset = offset - kept
    this.start = 0
    this.end = 0
  }

  #moveTo(other: Buffer): void {
    this.bytes.copy(other, 0, this.start, this.length)
    this.bytes = other
    this.address = other === this.#room ? this.#roomAddress : nowhere
  }

  /** Stream offset after the line. */
  get endOffset(): number {
    return this.#offset + this.end
  }

  /** Whether the line has no end yet and may be kept for the next batch. */
  get mayWait(): boolean {
    return this.start >= this.#whole && this.length - this.start <= longestPlain
  }

  /** Finds the end of the line, or of the batch. @param mayBePlain the line begins here and has no verdict */
  look(mayBePlain: boolean): void {
    if (this.end > 0) return
    const { start, bytes } = this
    this.isPlain = false
    if (start >= this.#whole) {
      this.end = this.length
      return
    }
    const plainEnd = mayBePlain ? this.message.read(bytes, start, this.address) : -1
    this.end = plainEnd >= 0 ? plainEnd : bytes.indexOf(LF, start) + 1
    this.isPlain =
      plainEnd >= 0 &&
      plainEnd - start <= longestPlain &&
      isUsual(this.message) &&
      this.#redactor.isClean(bytes, start, plainEnd - 1, this.address)
  }

  next(): void {
    this.start = this.end
    this.end = 0
  }

  /** The kept bytes, which are kept no longer. */
  takeRest(): Uint8Array {
    const rest = this.bytes.subarray(this.start, this.length)
    this.start = this.length
    return rest
  }
}

function largerFor(length: number): Buffer {
  return Buffer.allocUnsafeSlow(Math.ceil(length / regionBytes) * regionBytes)
}
