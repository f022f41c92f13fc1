import { decodeLine } from '../../src/formats/index.js'
import {
  WiretapeError,
  type Diagnostic,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
} from '../../src/model/index.js'
import { createColumn } from './columns.js'
import { createLaneIndex, type LaneIndex } from './lane.js'
import { groupSegments, openOne, type Opened } from './open.js'
import type { Detail, FromWorker, Lane, Opening } from './protocol.js'
import { createWords, type Words } from './words.js'

/** All recordings that are open. */
export interface Library {
  readonly lanes: readonly LaneIndex[]
  readonly words: Words
  readonly length: number
  open(openings: readonly Opening[]): Promise<void>
  detail(row: number, whole: boolean): Promise<Detail>
  /** Lane and row in it. */
  locate(row: number): { readonly lane: LaneIndex; readonly local: number }
  name(lane: number): string
  /** Told when rows came or changed. */
  onRows: (changed: readonly number[]) => void
}

/** Payloads above this are shown on demand only. */
const longestShown = 2 << 20
/** How often the page gets the counts of a lane that is being read. */
const tellEveryMs = 400

export function createLibrary(tell: (message: FromWorker, transfer?: Transferable[]) => void): Library {
  const words = createWords()
  const lanes: LaneIndex[] = []
  const names: string[] = []
  const laneOf = createColumn((n) => new Uint16Array(n))
  const localOf = createColumn((n) => new Uint32Array(n))

  function addLane(opened: Pick<Opened, 'name' | 'format' | 'source' | 'follows'>) {
    const index = lanes.length
    let local = 0
    const lane = createLaneIndex(index, opened.source, words, () => {
      laneOf.push(index)
      localOf.push(local)
      local += 1
      return laneOf.length - 1
    })
    lanes.push(lane)
    names.push(opened.name)
    const state: Lane['state'] = opened.follows ? 'following' : 'reading'
    return { lane, describe: describer(lane, opened), state }
  }

  function describer(lane: LaneIndex, { name, format, source }: Pick<Opened, 'name' | 'format' | 'source'>) {
    return (state: Lane['state'], failure?: Lane['failure']): void => {
      const message: Lane = {
        ...lane.describe(),
        name,
        format,
        state,
        sizeBytes: source.sizeBytes,
        ...(failure && { failure }),
      }
      tell({ type: 'lane', lane: message })
    }
  }

  function flush(lane: LaneIndex): void {
    const { rows, changes } = lane.take()
    // Words are told once: those that came with no row must not be lost.
    if (rows.count === 0 && changes.rows.length === 0 && rows.strings.length === 0) return
    const buffers = Object.values(rows).flatMap((value: unknown) =>
      ArrayBuffer.isView(value) ? [value.buffer as ArrayBuffer] : [],
    )
    const changed = [...changes.rows]
    tell({ type: 'rows', rows, changes }, buffers)
    library.onRows(changed)
  }

  async function read(opened: Opened): Promise<void> {
    const { lane, describe, state } = addLane(opened)
    const extra: Diagnostic[] = []
    let told = 0
    describe(state)
    try {
      for await (const chunk of opened.chunks((problem) => extra.push(problem))) {
        lane.push(chunk)
        flush(lane)
        const now = performance.now()
        if (now - told < tellEveryMs) continue
        told = now
        describe(state)
      }
      lane.end()
      flush(lane)
      describe('done')
    } catch (error) {
      flush(lane)
      describe('failed', failureOf(error))
    }
  }

  function locate(row: number): { lane: LaneIndex; local: number } {
    const lane = lanes[laneOf.get(row)]
    if (row < 0 || row >= laneOf.length || !lane) throw new WiretapeError('usage', `there is no row ${row}`)
    return { lane, local: localOf.get(row) }
  }

  const library: Library = {
    onRows: () => undefined,
    lanes,
    words,
    locate,
    name: (lane) => names[lane] ?? '',
    get length() {
      return laneOf.length
    },
    async open(openings) {
      const opened: Opened[] = []
      for (const opening of openings) {
        try {
          opened.push(await openOne(opening))
        } catch (error) {
          const source = { sizeBytes: 0, slice: async () => new Uint8Array() }
          addLane({ name: opening.name, format: '', source, follows: false }).describe(
            'failed',
            failureOf(error),
          )
        }
      }
      // Those that go on for ever would keep the others waiting.
      const groups = groupSegments(opened)
      const following = groups.filter(({ follows }) => follows).map(read)
      for (const group of groups) if (!group.follows) await read(group)
      await Promise.all(following)
    },
    async detail(row, whole) {
      const { lane, local } = locate(row)
      const { offset, sizeBytes, part } = lane.placeOf(local)
      const bytes = await lane.source.slice(offset, sizeBytes)
      const line = decodeLine(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
      const detail = { row, lane: lane.index, part, offset, sizeBytes }
      if (!('record' in line)) return { ...detail, record: brokenRecord(bytes, line.fault.message) }
      const { record } = line
      if (whole || sizeBytes <= longestShown) return { ...detail, record }
      if (record.type === 'message' || record.type === 'held')
        return { ...detail, record: withoutText(record), leftOut: record.raw.length }
      if (record.type === 'noise' || record.type === 'stderr')
        return { ...detail, record: { ...record, text: '' }, leftOut: record.text.length }
      return { ...detail, record }
    },
  }
  return library
}

/** What stands in a line that cannot be read. */
function brokenRecord(bytes: Uint8Array, problem: string): TapeRecord {
  const text = new TextDecoder().decode(bytes.subarray(0, 1 << 20))
  return { type: 'unknown', name: `a broken line: ${problem}`, text }
}

function withoutText(record: MessageRecord | HeldRecord): MessageRecord | HeldRecord {
  const { bytes: _, ...rest } = record
  const light = { ...rest, raw: '' }
  if (light.type === 'message') delete (light as { original?: string }).original
  return light
}

export function failureOf(error: unknown): { message: string; hint?: string } {
  if (error instanceof WiretapeError) {
    return { message: error.message, ...(error.hint !== undefined && { hint: error.hint }) }
  }
  return { message: error instanceof Error ? error.message : String(error) }
}
