import { decodeLine } from '../../src/formats/index.js'
import { isFrameRecord } from '../../src/model/index.js'
import { rowContent } from '../../src/render/index.js'
import type { LaneIndex } from './lane.js'
import type { Library } from './library.js'

/** Bytes per read. */
const readBytes = 1 << 22
/** Contents with an equal prefix of this many bytes are equal in the order. */
const keyBytes = 36
/** Bytes that a 64-bit float holds exactly. */
const floatBytes = 6
const floats = keyBytes / floatBytes

/**
 * Alphabetical ranks of all rows' contents, ignoring case. Equal contents have equal ranks. Rows without
 * content have the last rank, so that they stay below the others.
 */
export async function contentRanks(library: Library, breathe: () => Promise<void>): Promise<Int32Array> {
  const { length } = library
  const keys = new Float64Array(length * floats)
  for (const lane of library.lanes) await addKeys(lane, keys, breathe)
  const compare = (a: number, b: number): number => {
    for (let i = 0; i < floats; i += 1) {
      const difference = keys[a * floats + i]! - keys[b * floats + i]!
      if (difference !== 0) return difference
    }
    return 0
  }
  const rows = Uint32Array.from({ length }, (_, row) => row)
  rows.sort(compare)
  const ranks = new Int32Array(length)
  let rank = 0
  for (let i = 0; i < length; i += 1) {
    if (i > 0 && compare(rows[i - 1]!, rows[i]!) !== 0) rank += 1
    ranks[rows[i]!] = rank
  }
  return ranks
}

async function addKeys(lane: LaneIndex, keys: Float64Array, breathe: () => Promise<void>): Promise<void> {
  const { entries } = lane.fold
  const known = lane.length
  const most = keys.length / floats
  for (let from = 0; from < known;) {
    const { offset } = lane.lineAt(from)
    let end = from
    let last = offset
    for (; end < known; end += 1) {
      const line = lane.lineAt(end)
      // The line of a forwarded message that was held is further down.
      if (line.offset < offset || (end > from && line.offset + line.sizeBytes > offset + readBytes)) break
      last = line.offset + line.sizeBytes
    }
    const bytes = await lane.source.slice(offset, last - offset)
    for (let row = from; row < end; row += 1) {
      const global = lane.globalOf(row)
      if (global >= most) continue
      const kind = entries.kind(row)
      const peer = kind === 'result' ? entries.peer(row) : -1
      const method = peer < 0 ? '' : lane.word(lane.method(peer))
      const { sizeBytes, offset: at, part } = lane.placeOf(row)
      const line = decodeLine(utf8.decode(bytes.subarray(at - offset, at - offset + sizeBytes)))
      const record = 'record' in line ? line.record : undefined
      const message = record && isFrameRecord(record) ? record.parts[part] : undefined
      putKey(keys, global, record && message ? rowContent(record, message, kind, { method }) : '')
    }
    from = end
    await breathe()
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const scratch = new Uint8Array(keyBytes)

function putKey(keys: Float64Array, row: number, text: string): void {
  if (text === '') {
    keys.fill(2 ** (8 * floatBytes), row * floats, (row + 1) * floats)
    return
  }
  scratch.fill(0)
  encoder.encodeInto(text.slice(0, keyBytes).toLowerCase(), scratch)
  for (let i = 0; i < floats; i += 1) {
    let value = 0
    for (let b = 0; b < floatBytes; b += 1) value = value * 256 + scratch[i * floatBytes + b]!
    keys[row * floats + i] = value
  }
}
