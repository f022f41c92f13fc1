import { decodeLine } from '../../src/formats/index.js'
import {
  isFrameRecord,
  WiretapeError,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
} from '../../src/model/index.js'
import { authorWords, escapeText } from '../../src/render/index.js'
import { createColumn } from './columns.js'
import { LaneIndex } from './lane.js'
import { groupSegments, openOne, type Opened } from './open.js'
import type { Content, Detail, FromWorker, Lane, Opening } from './protocol.js'
import { contentOf, taskResultOf } from './story.js'
import { createWords } from './words.js'

/** Larger payloads are shown only on demand. */
const longestShown = 2 << 20
/** Connections to one server; all browsers allow at least this many. */
const connections = 4
/** Interval at which the page gets the counts of a lane being read. */
const tellEveryMs = 400

/** All open recordings. */
export class Library {
  readonly #tell: (message: FromWorker, transfer?: Transferable[]) => void
  readonly words = createWords()
  readonly lanes: LaneIndex[] = []
  readonly #names: string[] = []
  readonly #laneOf = createColumn((n) => new Uint16Array(n))
  readonly #localOf = createColumn((n) => new Uint32Array(n))
  /** Called when rows are added or changed. */
  onRows: (changed: readonly number[]) => void = () => undefined

  constructor(tell: (message: FromWorker, transfer?: Transferable[]) => void) {
    this.#tell = tell
  }

  /** The lane and its local row. */
  locate(row: number): { lane: LaneIndex; local: number } {
    const lane = this.lanes[this.#laneOf.get(row)]
    if (row < 0 || row >= this.#laneOf.length || !lane)
      throw new WiretapeError('usage', `there is no row ${row}`)
    return { lane, local: this.#localOf.get(row) }
  }

  async detail(row: number, whole: boolean): Promise<Detail> {
    const { lane, local } = this.locate(row)
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

  name(lane: number): string {
    return this.#names[lane] ?? ''
  }

  get length(): number {
    return this.#laneOf.length
  }

  async open(openings: readonly Opening[]): Promise<void> {
    const opened: Opened[] = []
    const failed: { readonly name: string; readonly error: unknown }[] = []
    const missing = new Set(openings)
    const tellMissing = (): void =>
      this.#tell({ type: 'opening', names: [...missing].map(({ name }) => name) })
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
    const groups = groupSegments(opened).map((group) => ({ group, added: this.#addLane(group) }))
    const source = { sizeBytes: 0, slice: async () => new Uint8Array() }
    const failures = failed.map(({ name, error }) =>
      this.#addLane({ name, file: { name }, format: '', source, follows: false }).describe(
        'failed',
        failureOf(error),
      ),
    )
    this.#tellLanes(...groups.map(({ added }) => added.describe(added.state)), ...failures)
    // Live recordings are read in parallel, since they would block the others.
    const following = groups
      .filter(({ group }) => group.follows)
      .map(({ group, added }) => this.#read(group, added))
    for (const { group, added } of groups) if (!group.follows) await this.#read(group, added)
    await Promise.all(following)
  }

  contents(rows: readonly number[]): Promise<Content[]> {
    return Promise.all(
      rows.map(async (row) => {
        const { lane, local } = this.locate(row)
        const detail = await this.detail(row, false)
        const message = isFrameRecord(detail.record) ? detail.record.parts[detail.part] : undefined
        const text = (await this.#taskContent(lane, local)) ?? contentOf(lane, local, detail)
        return { text, author: authorWords(detail.record, message) }
      }),
    )
  }

  /** For the response that created a task, the content of the response with the task's outcome. */
  async #taskContent(lane: LaneIndex, local: number): Promise<string | undefined> {
    const outcome = taskResultOf(lane, local)
    if (outcome < 0) return undefined
    if (lane.fold.entries.kind(outcome) === 'error') return escapeText(lane.word(lane.note(outcome)))
    return contentOf(lane, outcome, await this.detail(lane.globalOf(outcome), false))
  }

  /** The first row of the response in a message's HTTP exchange; it has the headers. */
  async response(row: number, exchange: number): Promise<Detail | undefined> {
    const { lane, local } = this.locate(row)
    const first = lane.responseOf(exchange, local)
    return first < 0 ? undefined : this.detail(lane.globalOf(first), false)
  }

  #addLane(opened: Pick<Opened, 'name' | 'file' | 'format' | 'source' | 'follows'>): AddedLane {
    const index = this.lanes.length
    let local = 0
    const lane = new LaneIndex(index, opened.source, this.words, () => {
      this.#laneOf.push(index)
      this.#localOf.push(local)
      local += 1
      return this.#laneOf.length - 1
    })
    this.lanes.push(lane)
    this.#names.push(opened.name)
    const state: Lane['state'] = opened.follows ? 'following' : 'reading'
    return { lane, describe: describer(lane, opened), state }
  }

  #tellLanes(...told: Lane[]): void {
    if (told.length > 0) this.#tell({ type: 'lanes', lanes: told })
  }

  #flush(lane: LaneIndex): void {
    const { rows, changes } = lane.take()
    // Words are sent only once: those without a row must not be lost.
    if (rows.count === 0 && changes.rows.length === 0 && rows.strings.length === 0) return
    const buffers = Object.values(rows).flatMap((value: unknown) =>
      ArrayBuffer.isView(value) ? [value.buffer as ArrayBuffer] : [],
    )
    const changed = [...changes.rows]
    this.#tell({ type: 'rows', rows, changes }, buffers)
    this.onRows(changed)
  }

  async #read(opened: Opened, { lane, describe, state }: AddedLane): Promise<void> {
    let told = -Infinity
    try {
      for await (const chunk of opened.chunks((problem) => lane.report(problem))) {
        lane.push(chunk)
        this.#flush(lane)
        const now = performance.now()
        if (now - told < tellEveryMs) continue
        told = now
        this.#tellLanes(describe(state))
      }
      lane.end()
      this.#flush(lane)
      // Some findings are known only at the end.
      this.onRows([])
      this.#tellLanes(describe('done'))
    } catch (error) {
      this.#flush(lane)
      this.#tellLanes(describe('failed', failureOf(error)))
    }
  }
}

interface AddedLane {
  readonly lane: LaneIndex
  readonly describe: (state: Lane['state'], failure?: Lane['failure']) => Lane
  readonly state: Lane['state']
}

function describer(
  lane: LaneIndex,
  { name, file, format, source }: Pick<Opened, 'name' | 'file' | 'format' | 'source'>,
): AddedLane['describe'] {
  return (state, failure) => ({
    ...lane.describe(),
    name,
    file,
    format,
    state,
    sizeBytes: source.sizeBytes,
    ...(failure && { failure }),
  })
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
