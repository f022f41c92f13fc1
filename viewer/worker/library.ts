import { decodeLine } from '../../src/formats/index.js'
import {
  isFrameRecord,
  WiretapeError,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
} from '../../src/model/index.js'
import { authorWords, rowContent } from '../../src/render/index.js'
import { createColumn } from './columns.js'
import { createLaneIndex, type LaneIndex } from './lane.js'
import { groupSegments, openOne, type Opened } from './open.js'
import type { Content, Detail, FromWorker, Lane, Opening } from './protocol.js'
import { createWords, type Words } from './words.js'

/** All open recordings. */
export interface Library {
  readonly lanes: readonly LaneIndex[]
  readonly words: Words
  readonly length: number
  open(openings: readonly Opening[]): Promise<void>
  detail(row: number, whole: boolean): Promise<Detail>
  /** @param asked for a response, the method of its request; else '' */
  contents(rows: readonly number[], asked: readonly string[]): Promise<Content[]>
  /** The first row of the response in a message's HTTP exchange; it has the headers. */
  response(row: number, exchange: number): Promise<Detail | undefined>
  /** The lane and its local row. */
  locate(row: number): { readonly lane: LaneIndex; readonly local: number }
  name(lane: number): string
  /** Called when rows are added or changed. */
  onRows: (changed: readonly number[]) => void
}

/** Larger payloads are shown only on demand. */
const longestShown = 2 << 20
/** Connections to one server; all browsers allow at least this many. */
const connections = 4
/** Interval at which the page gets the counts of a lane being read. */
const tellEveryMs = 400

export function createLibrary(tell: (message: FromWorker, transfer?: Transferable[]) => void): Library {
  const words = createWords()
  const lanes: LaneIndex[] = []
  const names: string[] = []
  const laneOf = createColumn((n) => new Uint16Array(n))
  const localOf = createColumn((n) => new Uint32Array(n))

  function addLane(opened: Pick<Opened, 'name' | 'file' | 'format' | 'source' | 'follows'>) {
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

  function describer(
    lane: LaneIndex,
    { name, file, format, source }: Pick<Opened, 'name' | 'file' | 'format' | 'source'>,
  ) {
    return (state: Lane['state'], failure?: Lane['failure']): Lane => ({
      ...lane.describe(),
      name,
      file,
      format,
      state,
      sizeBytes: source.sizeBytes,
      ...(failure && { failure }),
    })
  }

  function tellLanes(...told: Lane[]): void {
    if (told.length > 0) tell({ type: 'lanes', lanes: told })
  }

  function flush(lane: LaneIndex): void {
    const { rows, changes } = lane.take()
    // Words are sent only once: those without a row must not be lost.
    if (rows.count === 0 && changes.rows.length === 0 && rows.strings.length === 0) return
    const buffers = Object.values(rows).flatMap((value: unknown) =>
      ArrayBuffer.isView(value) ? [value.buffer as ArrayBuffer] : [],
    )
    const changed = [...changes.rows]
    tell({ type: 'rows', rows, changes }, buffers)
    library.onRows(changed)
  }

  async function read(opened: Opened, { lane, describe, state }: ReturnType<typeof addLane>): Promise<void> {
    let told = -Infinity
    try {
      for await (const chunk of opened.chunks(lane.report)) {
        lane.push(chunk)
        flush(lane)
        const now = performance.now()
        if (now - told < tellEveryMs) continue
        told = now
        tellLanes(describe(state))
      }
      lane.end()
      flush(lane)
      // Some findings are known only at the end.
      library.onRows([])
      tellLanes(describe('done'))
    } catch (error) {
      flush(lane)
      tellLanes(describe('failed', failureOf(error)))
    }
  }

  function locate(row: number): { lane: LaneIndex; local: number } {
    const lane = lanes[laneOf.get(row)]
    if (row < 0 || row >= laneOf.length || !lane) throw new WiretapeError('usage', `there is no row ${row}`)
    return { lane, local: localOf.get(row) }
  }

  async function detail(row: number, whole: boolean): Promise<Detail> {
    const { lane, local } = locate(row)
    const { offset, sizeBytes, part } = lane.placeOf(local)
    const bytes = await lane.source.slice(offset, sizeBytes)
    const line = decodeLine(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
    const found = { row, lane: lane.index, part, offset, sizeBytes }
    if (!('record' in line)) return { ...found, record: brokenRecord(bytes, line.fault.message) }
    const { record } = line
    if (whole || sizeBytes <= longestShown) return { ...found, record }
    if (isFrameRecord(record)) return { ...found, record: withoutText(record), leftOut: record.raw.length }
    if (record.type === 'noise' || record.type === 'stderr')
      return { ...found, record: { ...record, text: '' }, leftOut: record.text.length }
    return { ...found, record }
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
      const failed: { readonly name: string; readonly error: unknown }[] = []
      const missing = new Set(openings)
      const tellMissing = (): void => tell({ type: 'opening', names: [...missing].map(({ name }) => name) })
      tellMissing()
      const all = await Promise.all(
        openings.map(async (opening) => {
          try {
            return await openOne(opening, openings.length > connections)
          } catch (error) {
            return { name: opening.name, error }
          } finally {
            missing.delete(opening)
            tellMissing()
          }
        }),
      )
      for (const one of all) {
        if ('error' in one) failed.push(one)
        else opened.push(one)
      }
      // All lanes get their indexes at once, so that later arrivals move none.
      const groups = groupSegments(opened).map((group) => ({ group, added: addLane(group) }))
      const source = { sizeBytes: 0, slice: async () => new Uint8Array() }
      const failures = failed.map(({ name, error }) =>
        addLane({ name, file: { name }, format: '', source, follows: false }).describe(
          'failed',
          failureOf(error),
        ),
      )
      tellLanes(...groups.map(({ added }) => added.describe(added.state)), ...failures)
      // Live recordings are read in parallel, since they would block the others.
      const following = groups
        .filter(({ group }) => group.follows)
        .map(({ group, added }) => read(group, added))
      for (const { group, added } of groups) if (!group.follows) await read(group, added)
      await Promise.all(following)
    },
    detail,
    contents: (rows, asked) =>
      Promise.all(
        rows.map(async (row, i) => {
          const { record, part } = await detail(row, false)
          const message = isFrameRecord(record) ? record.parts[part] : undefined
          const method = asked[i] ?? ''
          const text = message ? rowContent(record, message, message.envelope.kind, { method }) : ''
          return { text, author: authorWords(record, message) }
        }),
      ),
    async response(row, exchange) {
      const { lane, local } = locate(row)
      const first = lane.responseOf(exchange, local)
      return first < 0 ? undefined : detail(lane.globalOf(first), false)
    },
  }
  return library
}

/** The record for a line that cannot be read. */
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
