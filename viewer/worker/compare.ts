import type {
  ComparedRecording,
  ComparisonSummary,
  ExchangeComparison,
  OfferVersions,
  RecordingIndex,
} from '../../src/compare/index.js'
import { decodeLine, readTraceLines } from '../../src/formats/index.js'
import { WiretapeError } from '../../src/model/index.js'
import { comparing } from '../patterns/loaded.js'
import { createColumn } from './columns.js'
import type { LaneIndex } from './lane.js'
import { chunksOf, type Source } from './source.js'
import { withoutLongTexts, type Shown } from './tools.js'

/** The comparison of two lanes: the differences and a summary. */
export interface Comparison {
  /** The first ones of each kind. */
  readonly exchanges: readonly ExchangeComparison[]
  /** Number of exchanges that the filter leaves out. */
  readonly leftOut: number
  readonly summary: ComparisonSummary
  /** The summary's `offers`, without texts that are too long. */
  readonly versions: readonly OfferVersions[]
}

/** One side of a comparison. */
export interface ComparedLane {
  readonly lane: LaneIndex
  /** The rows within the filter and the time range. */
  readonly shown: Pick<Shown, 'exchange'>
}

/** Maximum number of exchanges listed. */
const most = { same: 500, differing: 2_000 }

/**
 * Compares two lanes. An exchange is listed if the page shows it on one of the sides.
 *
 * @param isWanted false when the page has asked again
 */
export async function compareLanes(
  before: ComparedLane,
  after: ComparedLane,
  progress: (compared: number) => void,
  isWanted: () => boolean,
): Promise<Comparison | undefined> {
  const { RecordingComparison, plainSettings } = comparing()
  const [old, now] = [await comparedLane(before.lane), await comparedLane(after.lane)]
  const [showsOld, showsNow] = [showsIn(before, old.index), showsIn(after, now.index)]
  let leftOut = 0
  const comparison = new RecordingComparison(old, now, plainSettings, (row, other) => {
    const isShown = (row !== undefined && showsOld(row)) || (other !== undefined && showsNow(other))
    if (!isShown) leftOut += 1
    return isShown
  })
  const exchanges: ExchangeComparison[] = []
  const listed = { same: 0, differing: 0 }
  let compared = 0
  for await (const exchange of comparison.exchanges) {
    if (!isWanted()) return undefined
    compared += 1
    if (compared % 500 === 0) progress(compared)
    const group = exchange.verdict === 'same' ? 'same' : 'differing'
    if (listed[group] === most[group]) continue
    listed[group] += 1
    exchanges.push(exchange)
  }
  const versions = comparison.offerVersions().map(withoutLongTexts)
  return { exchanges, leftOut, summary: comparison.summary(), versions }
}

/** Whether the page shows the exchange of a request, by its row in the index of the comparison. */
function showsIn({ lane, shown }: ComparedLane, { entries }: RecordingIndex): (row: number) => boolean {
  // Both have the same messages in the same order; a lane also has rows for notes and broken lines.
  const rows = new Int32Array(entries.length)
  let next = 0
  for (let row = 0; row < entries.length; row += 1) {
    if (entries.seq(row) < 0) continue
    while (next < lane.length && lane.fold.entries.seq(next) < 0) next += 1
    rows[row] = next
    next += 1
  }
  return (row) => rows[row]! < lane.length && shown.exchange(rows[row]!)
}

async function comparedLane(lane: LaneIndex): Promise<ComparedRecording> {
  const indexer = comparing().createRecordingIndex()
  const offsets = createColumn((n) => new Float64Array(n))
  const sizes = createColumn((n) => new Uint32Array(n))
  for await (const { record, offset, sizeBytes } of readTraceLines(chunksOf(lane.source), () => undefined)) {
    indexer.take(record, offsets.length)
    offsets.push(offset)
    sizes.push(sizeBytes)
  }
  const read = inBlocks(lane.source)
  return {
    index: indexer.finish(),
    async read(locator) {
      const bytes = await read(offsets.get(locator), sizes.get(locator))
      const line = decodeLine(new TextDecoder().decode(bytes))
      if ('record' in line && line.record.type === 'message') return line.record
      throw new WiretapeError('unreadable', 'the recording changed while wiretape read it')
    },
  }
}

const blockBytes = 1 << 18
const blocksKept = 16

/** Reads a source in blocks: exchanges are compared in order, and each read of a blob takes about a millisecond. */
function inBlocks(source: Source): Source['slice'] {
  const blocks: { readonly offset: number; readonly bytes: Uint8Array }[] = []
  return async (offset, sizeBytes) => {
    let block = blocks.find(
      (one) => one.offset <= offset && offset + sizeBytes <= one.offset + one.bytes.length,
    )
    if (!block) {
      block = { offset, bytes: await source.slice(offset, Math.max(sizeBytes, blockBytes)) }
      blocks.push(block)
      if (blocks.length > blocksKept) blocks.shift()
    }
    return block.bytes.subarray(offset - block.offset, offset - block.offset + sizeBytes)
  }
}
