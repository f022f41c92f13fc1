import type { Redactor } from '../redaction/index.js'
import { PlainMessage } from '../wire/index.js'
import { copyBytes, regionBytes } from './region-pool.js'

const LF = 0x0a
/** Longer messages take the general path, which knows the limits. A longer incomplete line is not kept. */
const longestPlain = 1024 * 1024
/** Longest id, method or name of a plain message, because their texts are remembered. */
export const longestRemembered = 200

/** The lines of one channel, batch after batch. A line that crosses batches is complete in the last of them. */
export class BatchLines {
  readonly message = new PlainMessage()
  readonly #redactor: Redactor
  /** The incomplete line of the previous batch, and the batch. Valid until the next batch. */
  bytes: Buffer = Buffer.alloc(0)
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

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Copies a batch. Lines that were not passed with `next` are kept. @param offset of its first byte in the stream */
  begin(region: Uint8Array, offset: number): void {
    const kept = this.length - this.start
    const length = kept + region.length
    if (length > this.bytes.length) this.#grow(length)
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

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.ceil(length / regionBytes) * regionBytes)
    this.bytes.copy(larger, 0, this.start, this.length)
    this.bytes = larger
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
    this.end = bytes.indexOf(LF, start) + 1
    if (!mayBePlain || this.end - start > longestPlain) return
    this.isPlain =
      this.message.read(bytes, start) === this.end &&
      this.#isUsual() &&
      this.#redactor.isClean(bytes, start, this.end - 1)
  }

  #isUsual(): boolean {
    const { idStart, idEnd, methodStart, methodEnd, subjectStart, subjectEnd } = this.message
    return Math.max(idEnd - idStart, methodEnd - methodStart, subjectEnd - subjectStart) <= longestRemembered
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
