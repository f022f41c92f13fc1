import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { segmentKey, writeAll, type Manifest, type ObjectStore } from '../../ship/index.js'
import { canUnpack, unpack, UnpackError } from '../unpack/index.js'

/** A download without data for this long is abandoned: a failed node of the bus leaves it open forever. */
const silenceMs = 15_000

/** A segment that stays unreadable on retry. */
export class DeadSegment extends Error {
  override readonly name = 'DeadSegment'
}

/** Private files of a segment: as stored, and as its recorder wrote it. */
export interface FetchedSegment {
  readonly packed: string
  readonly packedBytes: number
  readonly plain: string
}

/**
 * Downloads a segment and checks it against its hash.
 *
 * @param folder for this segment only, removed by the caller
 * @throws DeadSegment if its bytes do not match the manifest
 * @throws WiretapeError of the store
 */
export async function fetchSegment(
  store: ObjectStore,
  manifest: Manifest,
  folder: string,
): Promise<FetchedSegment> {
  const { hash, encoding } = manifest
  if (!(await canUnpack(encoding)))
    throw new WiretapeError('usage', 'segments in zstd need Node 22.15 or newer on the collector')
  const packed = join(folder, `${hash}.packed`)
  const plain = join(folder, `${hash}.jsonl`)
  return { packed, packedBytes: await download(store, manifest, { packed, plain }), plain }
}

async function download(
  store: ObjectStore,
  manifest: Manifest,
  { packed, plain }: { readonly packed: string; readonly plain: string },
): Promise<number> {
  const digest = createHash('sha256')
  const [from, to] = await Promise.all([open(packed, 'w', 0o600), open(plain, 'w', 0o600)])
  let packedBytes = 0
  let plainBytes = 0
  async function* kept(): AsyncGenerator<Uint8Array> {
    for await (const chunk of withoutSilence(store.get(segmentKey(manifest)))) {
      packedBytes += chunk.length
      if (packedBytes > manifest.compressedBytes)
        throw new DeadSegment('it is larger than its manifest states')
      await writeAll(from, chunk)
      yield chunk
    }
  }
  try {
    for await (const chunk of unpack(manifest.encoding, kept(), () => undefined)) {
      plainBytes += chunk.length
      if (plainBytes > manifest.bytes) throw new DeadSegment('it contains more than its manifest states')
      digest.update(chunk)
      await writeAll(to, chunk)
    }
  } catch (error) {
    if (error instanceof UnpackError) throw new DeadSegment(`it is damaged: ${error.message}`)
    throw error
  } finally {
    await from.close()
    await to.close()
  }
  if (digest.digest('hex') !== manifest.hash)
    throw new DeadSegment('its content does not match the hash in its name')
  return packedBytes
}

/** @throws WiretapeError `unreachable` if no data arrives for too long */
export async function* withoutSilence(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  let isOver = false
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined
      const silence = new Promise<never>((_, reject) => {
        const fail = (): void =>
          reject(new WiretapeError('unreachable', `a download stopped for ${silenceMs / 1_000} s`))
        timer = setTimeout(fail, silenceMs)
      })
      try {
        const { value, done } = await Promise.race([iterator.next(), silence])
        isOver = done === true
        if (done === true) return
        yield value
      } finally {
        clearTimeout(timer)
      }
    }
  } finally {
    // Not awaited: it waits for the chunk that does not come.
    if (!isOver) iterator.return?.().catch(() => undefined)
  }
}
