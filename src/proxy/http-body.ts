import { createHash, type Hash } from 'node:crypto'
import { HeldBytes } from '../wire/index.js'

export { createDecoder, decodeWhole, wordsOf, type Decoder } from '../transports/index.js'

const nothing = new Uint8Array(0)

/** Bytes that all bodies under way may hold together. */
export class BodyRoom {
  #left: number

  constructor(sizeBytes: number) {
    this.#left = sizeBytes
  }

  /** False when there is not that much. */
  take(sizeBytes: number): boolean {
    if (sizeBytes > this.#left) return false
    this.#left -= sizeBytes
    return true
  }

  giveBack(sizeBytes: number): void {
    this.#left += sizeBytes
  }
}

/** A body as it comes, up to a limit; of a longer one, and of one that there is no room for, size and hash are known. */
export class HttpBody {
  readonly #maxBytes: number
  readonly #room: BodyRoom
  #held = new HeldBytes()
  #hash: Hash | undefined
  #sizeBytes = 0

  constructor(maxBytes: number, room: BodyRoom) {
    this.#maxBytes = maxBytes
    this.#room = room
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Only its size and its hash are known. */
  get isTooLong(): boolean {
    return this.#hash !== undefined
  }

  /** Why it is too long. */
  get why(): string {
    const isLong = this.#sizeBytes > this.#maxBytes
    return isLong
      ? whyTooLong(this.#maxBytes)
      : 'a message was forwarded but not recorded: too much of others was under way at the same time'
  }

  add(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length
    if (!this.#hash && this.#sizeBytes <= this.#maxBytes && this.#room.take(bytes.length)) {
      this.#held.add(bytes)
      return
    }
    if (!this.#hash) {
      this.#hash = createHash('sha256')
      this.#room.giveBack(this.#held.length)
      for (const part of this.#held.takeParts()) this.#hash.update(part)
    }
    this.#hash.update(bytes)
  }

  /** All that is held of it, for the caller: it is not held any longer. */
  take(): Uint8Array {
    const { length } = this.#held
    this.#room.giveBack(length)
    return this.#held.takeJoined(nothing, length)
  }

  /** Of a body that is too long. */
  sha256(): string | undefined {
    return this.#hash?.copy().digest('hex')
  }
}

export function whyTooLong(maxBytes: number): string {
  return `a message of more than ${maxBytes / 1024 / 1024} MB was forwarded but not recorded`
}
