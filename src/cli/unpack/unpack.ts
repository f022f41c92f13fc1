import type { Decompressor } from './engine.js'
import { gunzip } from './gunzip.js'
import type { PackedFault } from './unpack-error.js'
import { unzstd } from './unzstd.js'
import { isSkippable, zstdMagic } from './zstd-frames.js'

export type Packing = 'gzip' | 'zstd'

/** Bytes per call of a decompressor, which may produce a thousand times as many. */
const sliceBytes = 1 << 14

/** Magic numbers of RFC 1952 and RFC 8878. */
export function packingOf(head: Uint8Array): Packing | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (head.length < 4) return undefined
  const magic = new DataView(head.buffer, head.byteOffset).getUint32(0, true)
  return magic === zstdMagic || isSkippable(magic) ? 'zstd' : undefined
}

/** Zstd needs Node 22.15. */
export async function canUnpack(packing: Packing): Promise<boolean> {
  return packing === 'gzip' || 'createZstdDecompress' in (await import('node:zlib'))
}

/**
 * Unpacks all data: every member of a gzip file, every frame of zstd, and of a truncated one the part before its
 * end.
 *
 * @param fault reports a fault, at most once
 * @param packing supported by this Node
 * @throws UnpackError if the data is damaged
 */
export async function* unpack(
  packing: Packing,
  source: AsyncIterable<Uint8Array>,
  fault: (fault: PackedFault) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const zlib = await import('node:zlib')
  const packed = { slices: slicesOf(source), fault }
  if (packing === 'gzip') yield* gunzip(zlib, packed)
  else if ('createZstdDecompress' in zlib)
    yield* unzstd(zlib.createZstdDecompress as () => Decompressor, packed)
}

async function* slicesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += sliceBytes) yield chunk.subarray(at, at + sliceBytes)
  }
}
