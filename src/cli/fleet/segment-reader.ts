import { createHash } from 'node:crypto'
import { WiretapeError } from '../../model/index.js'
import {
  bytesOf,
  decodeManifest,
  manifestKey,
  segmentKey,
  type Manifest,
  type ObjectStore,
} from '../../ship/index.js'
import { canUnpack, unpack, UnpackError } from '../unpack/index.js'

/** Cached unpacked parts of segments, about 256 kB each. */
const mostMembers = 32
const mostManifests = 256
/** Uncompressed bytes fetched at once when reading a whole segment. */
const rangeBytes = 4 << 20
/** Our shipper makes no larger parts. */
const mostMemberBytes = 64 << 20

/** Reads pieces of segments in a store by range: fetches only the independently compressed parts that hold them. */
export class SegmentReader {
  readonly #store: ObjectStore
  readonly #manifests = new Map<string, Manifest>()
  readonly #members = new Map<string, Uint8Array>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /**
   * @param start in bytes of the uncompressed segment
   * @throws WiretapeError `unreadable`
   */
  async bytes(hash: string, start: number, end: number): Promise<Uint8Array> {
    const manifest = await this.manifest(hash)
    const pieces: Uint8Array[] = []
    for (const [i, { from, bytes }] of manifest.members.entries()) {
      if (from + bytes <= start || from >= end) continue
      const unpacked = await this.#member(manifest, i)
      pieces.push(unpacked.subarray(Math.max(0, start - from), Math.max(0, end - from)))
    }
    const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    if (all.length !== end - start) throw this.#damaged(hash, 'it is shorter than its index states')
    return all
  }

  /**
   * The whole segment, with one request to the store.
   *
   * @throws WiretapeError `unreadable`, also if the bytes do not match the hash in their name
   */
  async *all(hash: string): AsyncGenerator<Uint8Array> {
    const manifest = await this.manifest(hash)
    await this.#refuseUnknown(manifest)
    const digest = createHash('sha256')
    let total = 0
    try {
      for await (const piece of unpack(
        manifest.encoding,
        this.#store.get(segmentKey(manifest)),
        () => undefined,
      )) {
        total += piece.length
        if (total > manifest.bytes) throw this.#damaged(hash, 'it contains more than its manifest states')
        digest.update(piece)
        // The memory of a piece may be used again.
        yield Uint8Array.from(piece)
      }
    } catch (error) {
      throw error instanceof UnpackError ? this.#damaged(hash, error.message) : error
    }
    if (digest.digest('hex') !== hash) throw this.#damaged(hash, 'its bytes do not have the hash of its name')
  }

  /**
   * The whole segment, range by range at the reader's pace: nothing is read after the reader is gone.
   *
   * @throws WiretapeError `unreadable`
   */
  async *ranges(hash: string): AsyncGenerator<Uint8Array> {
    const manifest = await this.manifest(hash)
    const { members } = manifest
    for (let first = 0, next = 0; first < members.length; first = next) {
      for (let bytes = 0; next < members.length && (bytes === 0 || bytes < rangeBytes); next += 1)
        bytes += members[next]!.bytes
      yield await this.#unpacked(manifest, first, next)
    }
  }

  async manifest(hash: string): Promise<Manifest> {
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new WiretapeError('unreadable', `${hash} is not the hash of a segment`)
    const known = this.#manifests.get(hash)
    if (known) return known
    const text = Buffer.from(await bytesOf(this.#store.get(manifestKey(hash)))).toString('utf8')
    const manifest = decodeManifest(text)
    if (manifest?.hash !== hash) throw this.#damaged(hash, 'its manifest is invalid')
    keep(this.#manifests, hash, manifest, mostManifests)
    return manifest
  }

  async #member(manifest: Manifest, number: number): Promise<Uint8Array> {
    const name = `${manifest.hash} ${number}`
    const known = this.#members.get(name)
    if (known) return known
    const unpacked = await this.#unpacked(manifest, number, number + 1)
    keep(this.#members, name, unpacked, mostMembers)
    return unpacked
  }

  /** Reads the adjacent members from `first` to before `end` with one request. */
  async #unpacked(manifest: Manifest, first: number, end: number): Promise<Uint8Array> {
    const { hash, encoding } = manifest
    const members = manifest.members.slice(first, end)
    const { at } = members[0]!
    const length = members.reduce((sum, member) => sum + member.length, 0)
    const bytes = members.reduce((sum, member) => sum + member.bytes, 0)
    if (Math.max(length, bytes) > mostMemberBytes) throw this.#damaged(hash, 'one of its parts is too large')
    await this.#refuseUnknown(manifest)
    const pieces: Uint8Array[] = []
    let total = 0
    const source = this.#store.get(segmentKey(manifest), { at, length })
    for await (const piece of unpack(encoding, source, () => undefined)) {
      total += piece.length
      if (total > bytes) break
      // The memory of a piece may be used again.
      pieces.push(Uint8Array.from(piece))
    }
    if (total !== bytes) throw this.#damaged(hash, 'the length of a part differs from its manifest')
    return Buffer.concat(pieces)
  }

  async #refuseUnknown({ encoding }: Manifest): Promise<void> {
    if (!(await canUnpack(encoding)))
      throw new WiretapeError('usage', 'segments in zstd need Node 22.15 or newer')
  }

  #damaged(hash: string, why: string): WiretapeError {
    return new WiretapeError('unreadable', `cannot read segment ${hash} in ${this.#store.address}: ${why}`)
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value!)
}
