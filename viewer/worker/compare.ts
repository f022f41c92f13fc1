import type { ComparedRecording, ComparisonSummary, ExchangeComparison } from '../../src/compare/index.js'
import { decodeLine, readTraceLines } from '../../src/formats/index.js'
import { WiretapeError } from '../../src/model/index.js'
import { comparing } from '../patterns/loaded.js'
import { createColumn } from './columns.js'
import type { LaneIndex } from './lane.js'
import { chunksOf } from './source.js'

/** The comparison of two lanes: the differences and a summary. */
export interface Comparison {
  readonly exchanges: readonly ExchangeComparison[]
  /** Number of differing exchanges not listed. */
  readonly more: number
  readonly summary: ComparisonSummary
}

const mostListed = 2_000

export async function compareLanes(
  before: LaneIndex,
  after: LaneIndex,
  progress: (compared: number) => void,
): Promise<Comparison> {
  const { compareRecordings, plainSettings } = comparing()
  const comparison = compareRecordings(await comparedLane(before), await comparedLane(after), plainSettings)
  const exchanges: ExchangeComparison[] = []
  let more = 0
  let compared = 0
  for await (const exchange of comparison.exchanges) {
    compared += 1
    if (compared % 500 === 0) progress(compared)
    if (exchanges.length < mostListed) exchanges.push(exchange)
    else if (exchange.verdict !== 'same') more += 1
  }
  return { exchanges, more, summary: comparison.summary() }
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
  return {
    index: indexer.finish(),
    async read(locator) {
      const bytes = await lane.source.slice(offsets.get(locator), sizes.get(locator))
      const line = decodeLine(new TextDecoder().decode(bytes))
      if ('record' in line && line.record.type === 'message') return line.record
      throw new WiretapeError('unreadable', 'the recording changed while wiretape read it')
    },
  }
}
