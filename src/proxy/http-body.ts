import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { HeldBytes, longestMessage } from '../wire/index.js'

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

/** Takes a content coding away while a body arrives. */
export interface Decoder {
  /** @throws what is wrong with the coded bytes */
  push(bytes: Uint8Array): Promise<Uint8Array>
}

/**
 * Undefined for a coding that this Node does not know (RFC 9110, section 8.4.1). `identity` passes everything
 * through.
 */
export function createDecoder(coding: string | undefined): Decoder | undefined {
  const name = (coding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return { push: (bytes) => Promise.resolve(bytes) }
  const stream = streamOf(name)
  if (!stream) return undefined
  let failure: Error | undefined
  let decodedBytes = 0
  stream.on('error', (error) => (failure = error))
  return {
    async push(bytes) {
      if (failure) throw failure
      // A chunk is dealt with when its callback comes; until then the stream may want to be read.
      const written = new Promise<void>((resolve) => stream.write(bytes, () => resolve()))
      const pieces: Buffer[] = []
      let done = false
      void written.then(() => (done = true))
      while (!done && !failure) {
        await Promise.race([written, once(stream, 'readable').catch(() => undefined)])
        for (let piece = stream.read() as Buffer | null; piece; piece = stream.read() as Buffer | null) {
          pieces.push(piece)
          decodedBytes += piece.length
          if (decodedBytes > longestMessage) throw new Error('it unfolds to more than 64 MB')
        }
      }
      if (failure) throw failure
      return Buffer.concat(pieces)
    },
  }
}

function streamOf(name: string): Transform | undefined {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
    case 'deflate':
      return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
    case 'br':
      return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH })
    case 'zstd': {
      // Node 22.15 and later.
      const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform }
      return createZstdDecompress?.()
    }
    default:
      return undefined
  }
}

/** A whole body without its content coding, or why that cannot be. */
export async function decodeWhole(
  bytes: Uint8Array,
  coding: string | undefined,
): Promise<{ bytes: Uint8Array } | { opaque: string }> {
  const decoder = createDecoder(coding)
  if (!decoder) return { opaque: `the content coding ${coding} is not known here` }
  try {
    return { bytes: await decoder.push(bytes) }
  } catch (error) {
    return { opaque: `its content coding is broken: ${wordsOf(error)}` }
  }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function whyTooLong(maxBytes: number): string {
  return `a message of more than ${maxBytes / 1024 / 1024} MB was forwarded but not recorded`
}
