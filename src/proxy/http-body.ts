import { createHash, type Hash } from 'node:crypto'
import { decodeWhole, isIdentity } from '../transports/index.js'
import { HeldBytes } from '../wire/index.js'

export { createDecoder, wordsOf, type Decoder } from '../transports/index.js'

const nothing = new Uint8Array(0)

/** Memory limit of all incomplete bodies together, in bytes. */
export class BodyRoom {
  #left: number

  constructor(sizeBytes: number) {
    this.#left = sizeBytes
  }

  /** False when the limit would be exceeded. */
  take(sizeBytes: number): boolean {
    if (sizeBytes > this.#left) return false
    this.#left -= sizeBytes
    return true
  }

  giveBack(sizeBytes: number): void {
    this.#left += sizeBytes
  }
}

/** A body as it arrives. Above its own limit, or when memory is short, only size and hash are kept. */
export class HttpBody {
  readonly #maxBytes: number
  readonly #room: BodyRoom
  /** The first and only part so far; its memory belongs to the caller. */
  #view: Uint8Array | undefined
  #held: HeldBytes | undefined
  #heldBytes = 0
  #hash: Hash | undefined
  #sizeBytes = 0

  constructor(maxBytes: number, room: BodyRoom) {
    this.#maxBytes = maxBytes
    this.#room = room
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Whether only size and hash are known. */
  get isTooLong(): boolean {
    return this.#hash !== undefined
  }

  /** The reason why `isTooLong` is true. */
  get why(): string {
    const isLong = this.#sizeBytes > this.#maxBytes
    return isLong
      ? whyTooLong(this.#maxBytes)
      : 'a message was forwarded but not recorded: too much other data was in transit'
  }

  /**
   * Most bodies arrive in one part and are taken before its memory is reused, so that part is copied only by `keep`.
   *
   * @param bytes must not change before `keep` or `take`
   * @returns whether they are needed until then
   */
  add(bytes: Uint8Array): boolean {
    this.#sizeBytes += bytes.length
    if (!this.#hash && this.#sizeBytes <= this.#maxBytes && this.#room.take(bytes.length)) {
      this.#heldBytes += bytes.length
      if (this.#heldBytes === bytes.length) {
        this.#view = bytes
        return true
      }
      this.keep()
      this.#held!.add(bytes)
      return false
    }
    if (!this.#hash) {
      this.#hash = createHash('sha256')
      this.#room.giveBack(this.#heldBytes)
      this.#heldBytes = 0
      if (this.#view) this.#hash.update(this.#view)
      for (const part of this.#held?.takeParts() ?? []) this.#hash.update(part)
      this.#view = undefined
      this.#held = undefined
    }
    this.#hash.update(bytes)
    return false
  }

  /** Copies a borrowed part. */
  keep(): void {
    if (!this.#view) return
    this.#held = new HeldBytes(true)
    this.#held.add(this.#view)
    this.#view = undefined
  }

  /** Returns the kept bytes and forgets them. Valid as long as the added bytes are. */
  take(): Uint8Array {
    const length = this.#heldBytes
    const view = this.#view
    this.#room.giveBack(length)
    this.#heldBytes = 0
    this.#view = undefined
    return view ?? this.#held?.takeJoined(nothing, length) ?? nothing
  }

  /** The hash of a body that is too long. */
  sha256(): string | undefined {
    return this.#hash?.copy().digest('hex')
  }
}

export function whyTooLong(maxBytes: number): string {
  return `a message of more than ${maxBytes / 1024 / 1024} MB was forwarded but not recorded`
}

export type Decoded = { readonly bytes: Uint8Array } | { readonly opaque: string }

/** A whole body without its content coding, or why decoding failed. A promise only when it must be decoded. */
export function decodedBody(body: HttpBody, coding: string | undefined): Decoded | Promise<Decoded> {
  const bytes = body.take()
  // Decoding is asynchronous, and the memory may be reused before it ends.
  return isIdentity(coding) ? { bytes } : decodeWhole(Uint8Array.from(bytes), coding)
}
