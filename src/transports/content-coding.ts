import { once } from 'node:events'
import type { Transform } from 'node:stream'
import type { BrotliOptions, ZlibOptions } from 'node:zlib'
import { longestMessage } from '../wire/index.js'

interface Coding {
  stream(): Transform
  /** @throws Error when the coded bytes are invalid */
  whole(bytes: Uint8Array): Buffer
}

/** zstd exists in Node 22.15 and later. */
interface Zstd {
  readonly createZstdDecompress?: () => Transform
  readonly zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer
}

let made: ReadonlyMap<string, Coding> | undefined

/**
 * Content codings that both the recorder and the gate read (RFC 9110, section 8.4.1). The module is loaded on first use:
 * a recording thread on pipes starts without it.
 */
function makeCodings(): ReadonlyMap<string, Coding> {
  const zlib = process.getBuiltinModule('node:zlib')
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  // A truncated body is decoded as far as it goes.
  const zlibOptions: ZlibOptions = { finishFlush: Z_SYNC_FLUSH }
  const brotliOptions: BrotliOptions = { finishFlush: BROTLI_OPERATION_FLUSH }
  const limit = { maxOutputLength: longestMessage }
  const gzip: Coding = {
    stream: () => zlib.createGunzip(zlibOptions),
    whole: (bytes) => zlib.gunzipSync(bytes, { ...zlibOptions, ...limit }),
  }
  const deflate: Coding = {
    stream: () => zlib.createInflate(zlibOptions),
    whole: (bytes) => zlib.inflateSync(bytes, { ...zlibOptions, ...limit }),
  }
  const br: Coding = {
    stream: () => zlib.createBrotliDecompress(brotliOptions),
    whole: (bytes) => zlib.brotliDecompressSync(bytes, { ...brotliOptions, ...limit }),
  }
  const codings = new Map([
    ['gzip', gzip],
    ['x-gzip', gzip],
    ['deflate', deflate],
    ['br', br],
  ])
  const { createZstdDecompress, zstdDecompressSync } = zlib as Zstd
  if (createZstdDecompress && zstdDecompressSync)
    codings.set('zstd', {
      stream: () => createZstdDecompress(),
      whole: (bytes) => zstdDecompressSync(bytes, limit),
    })
  return codings
}

function codingOf(coding = ''): Coding | undefined {
  made ??= makeCodings()
  return made.get(coding.trim().toLowerCase())
}

/** Whether this content coding leaves a body unchanged. */
export function isIdentity(coding = ''): boolean {
  return /^(identity)?$/i.test(coding.trim())
}

/** Removes a content coding while a body arrives. */
export interface Decoder {
  /** @throws Error when the coded bytes are invalid, or decompress to more than 64 MB */
  push(bytes: Uint8Array): Promise<Uint8Array>
}

const identity: Decoder = { push: (bytes) => Promise.resolve(bytes) }

/**
 * Undefined for a coding that this version of Node does not support (RFC 9110, section 8.4.1). With
 * `identity`, all bytes pass unchanged.
 */
export function createDecoder(coding: string | undefined): Decoder | undefined {
  if (isIdentity(coding)) return identity
  const stream = codingOf(coding)?.stream()
  if (!stream) return undefined
  let failure: Error | undefined
  let decodedBytes = 0
  stream.on('error', (error) => (failure = error))
  return {
    async push(bytes) {
      if (failure) throw failure
      // A chunk is processed once its callback is called. Until then, the output may have to be read.
      const written = new Promise<void>((resolve) => stream.write(bytes, () => resolve()))
      const pieces: Buffer[] = []
      let done = false
      void written.then(() => (done = true))
      while (!done && !failure) {
        await Promise.race([written, once(stream, 'readable').catch(() => undefined)])
        for (let piece = stream.read() as Buffer | null; piece; piece = stream.read() as Buffer | null) {
          pieces.push(piece)
          decodedBytes += piece.length
          if (decodedBytes > longestMessage) throw new Error('it decompresses to more than 64 MB')
        }
      }
      if (failure) throw failure
      return Buffer.concat(pieces)
    },
  }
}

/** A whole body without its content coding, or the reason why it cannot be decoded. */
export async function decodeWhole(
  bytes: Uint8Array,
  coding: string | undefined,
): Promise<{ bytes: Uint8Array } | { opaque: string }> {
  const decoder = createDecoder(coding)
  if (!decoder) return { opaque: `the content coding ${coding} is not supported` }
  try {
    return { bytes: await decoder.push(bytes) }
  } catch (error) {
    return { opaque: `its content coding is broken: ${wordsOf(error)}` }
  }
}

/** Undefined when the coding is unknown or broken: the body cannot be inspected then. */
export function withoutContentCoding(bytes: Buffer, coding: string | undefined): Buffer | undefined {
  if (isIdentity(coding)) return bytes
  try {
    return codingOf(coding)?.whole(bytes)
  } catch {
    return undefined
  }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
