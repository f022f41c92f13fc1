import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import type { Transform } from 'node:stream'
import zlib from 'node:zlib'

/** A body as it comes, up to a limit; of a longer one size and hash are known. */
export class HttpBody {
  readonly #maxBytes: number
  #chunks: Uint8Array[] = []
  #hash: Hash | undefined
  #sizeBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get isTooLong(): boolean {
    return this.#sizeBytes > this.#maxBytes
  }

  add(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length
    if (!this.isTooLong) {
      this.#chunks.push(bytes)
      return
    }
    if (!this.#hash) {
      this.#hash = createHash('sha256')
      for (const chunk of this.#chunks) this.#hash.update(chunk)
      this.#chunks = []
    }
    this.#hash.update(bytes)
  }

  /** The whole body; empty when it is too long. */
  bytes(): Uint8Array {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
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

/** Longest text that a coded body may unfold to: a small one can hold gigabytes. */
const mostDecoded = 64 * 1024 * 1024

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
          if (decodedBytes > mostDecoded) throw new Error('it unfolds to more than 64 MB')
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
