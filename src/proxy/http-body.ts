import { createHash, type Hash } from 'node:crypto'
import { decodeWhole, isIdentity } from '../transports/index.js'
import { HeldBytes } from '../wire/index.js'

export { createDecoder, wordsOf, type Decoder } from '../transports/index.js'

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
  /** The only part so far, which is not ours. */
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

  /** Only its size and its hash are known. */
  get isTooLong(): boolean {
    return this.#hash !== undefined
  }

  /** Why it is too long. */
  get why(): string {
    const isLong = this.#sizeBytes > this.#maxBytes
    return isLong
      ? whyTooLong(this.#maxBytes)
      : 'a message was forwarded but not recorded: too much other data was in transit'
  }

  /**
   * Most bodies come in one part and are taken before its memory is used again: that part is copied by `keep` only.
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

  /** Copies what is held and not its own yet. */
  keep(): void {
    if (!this.#view) return
    this.#held = new HeldBytes(true)
    this.#held.add(this.#view)
    this.#view = undefined
  }

  /** All that is held of it, for the caller: it is not held any longer. Valid as long as what was added is. */
  take(): Uint8Array {
    const length = this.#heldBytes
    const view = this.#view
    this.#room.giveBack(length)
    this.#heldBytes = 0
    this.#view = undefined
    return view ?? this.#held?.takeJoined(nothing, length) ?? nothing
  }

  /** Of a body that is too long. */
  sha256(): string | undefined {
    return this.#hash?.copy().digest('hex')
  }
}

export function whyTooLong(maxBytes: number): string {
  return `a message of more than ${maxBytes / 1024 / 1024} MB was forwarded but not recorded`
}

export type Decoded = { readonly bytes: Uint8Array } | { readonly opaque: string }

/** A whole body without its content coding, or why that cannot be. A promise only where something has to be decoded. */
export function decodedBody(body: HttpBody, coding: string | undefined): Decoded | Promise<Decoded> {
  const bytes = body.take()
  // Decoding takes its time, and the memory may be used again before it ends.
  return isIdentity(coding) ? { bytes } : decodeWhole(Uint8Array.from(bytes), coding)
}
