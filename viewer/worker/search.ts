import { isFrameRecord, isLoneRecord, loneFacts } from '../../src/model/index.js'
import { matchFilter, needsFindings, needsPayload, parseFilter, type Filter } from '../../src/filter/index.js'
import { decodeLine } from '../../src/formats/index.js'
import { skipValue } from '../../src/wire/index.js'
import type { LibraryFindings } from './lane-findings.js'
import type { LaneIndex } from './lane.js'
import type { Library } from './library.js'
import { needlesOf, type Needles } from './needles.js'
import type { FromWorker, Slot } from './protocol.js'
import { RowSubject } from './row-subject.js'

/** Bytes per read, and bytes searched without a pause. */
const readBytes = 1 << 22
const lookBytes = 1 << 18
/** Reads in progress while one is searched. */
const readsAhead = 2
const rowsAtOnce = 20_000
const tellEveryMs = 120

/** A read in progress, up to but not including row `end`. */
interface Read {
  readonly end: number
  readonly offset: number
  readonly bytes: Promise<Uint8Array>
}

/** Finds the rows that match a filter, and continues as rows arrive. */
export class Search {
  readonly #slot: Slot
  readonly #library: Library
  readonly #findings: LibraryFindings
  readonly #tell: (message: FromWorker) => void
  #run = 0
  #text = ''
  #filter: Filter | undefined
  #needles: Needles | undefined
  #bits = new Uint8Array(0)
  #count = 0
  #running = false
  #again = false
  /** Number of rows searched in each lane. */
  #done: number[] = []
  #redo: number[] = []
  /** Number of findings processed in each lane. */
  #found: number[] = []
  /** Whether a row matches, as far as searched; true without a filter. */
  readonly has = (row: number): boolean =>
    !this.#filter || ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0

  constructor(slot: Slot, library: Library, findings: LibraryFindings, tell: (message: FromWorker) => void) {
    this.#slot = slot
    this.#library = library
    this.#findings = findings
    this.#tell = tell
  }

  #mark(row: number, matches: boolean): void {
    const byte = row >> 3
    if (byte >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(byte + 1, this.#library.length >> 3, this.#bits.length * 2) + 1)
      grown.set(this.#bits)
      this.#bits = grown
    }
    const bit = 1 << (row & 7)
    if (((this.#bits[byte]! & bit) !== 0) === matches) return
    this.#count += matches ? 1 : -1
    this.#bits[byte]! ^= bit
  }

  #report(isDone: boolean): void {
    this.#tell({
      type: 'matches',
      slot: this.#slot,
      text: this.#text,
      bits: this.#bits.slice(),
      count: this.#count,
      done: isDone,
    })
  }

  async #work(): Promise<void> {
    const mine = this.#run
    const current = this.#filter
    if (!current) return
    this.#running = true
    let told = performance.now()
    const breathe = async (): Promise<boolean> => {
      if (performance.now() - told > (this.#library.length > 200_000 ? 4 * tellEveryMs : tellEveryMs)) {
        told = performance.now()
        this.#report(false)
      }
      // Requests of the page and a new filter take precedence.
      await new Promise<void>((resolve) => {
        turn.port1.onmessage = () => resolve()
        turn.port2.postMessage(null)
      })
      return mine === this.#run
    }
    do {
      this.#again = false
      if (needsFindings(current) && !(await this.#findFirst(breathe, () => mine === this.#run))) return
      const wanted = this.#redo
      this.#redo = []
      for (const row of wanted) {
        const { lane, local } = this.#library.locate(row)
        if (local < (this.#done[lane.index] ?? 0))
          await this.#lookAt(lane, local, local + 1, current, breathe)
        if (mine !== this.#run) return
      }
      for (const lane of this.#library.lanes) {
        if (!(await this.#lookAt(lane, this.#done[lane.index] ?? 0, lane.length, current, breathe))) return
        this.#done[lane.index] = Math.max(this.#done[lane.index] ?? 0, lane.length)
      }
    } while (this.#again)
    this.#running = false
    this.#report(true)
  }

  /** Checks rows with new findings again. Returns false if the filter has changed. */
  async #findFirst(breathe: () => Promise<boolean>, isWanted: () => boolean): Promise<boolean> {
    for (const lane of this.#library.lanes) {
      const ofLane = this.#findings.of(lane)
      await ofLane.catchUp(breathe)
      if (!isWanted()) return false
      for (const row of ofLane.rowsSince(this.#found[lane.index] ?? 0)) this.#redo.push(lane.globalOf(row))
      this.#found[lane.index] = ofLane.count
    }
    return true
  }

  /** Returns false if the filter has changed. */
  async #lookAt(
    lane: LaneIndex,
    from: number,
    to: number,
    current: Filter,
    breathe: () => Promise<boolean>,
  ): Promise<boolean> {
    const subject = new RowSubject(lane)
    if (needsFindings(current)) subject.found = this.#findings.of(lane)
    if (!needsPayload(current)) {
      for (let row = from; row < to; row += 1) {
        subject.row = row
        this.#mark(lane.globalOf(row), matchFilter(current, subject))
        if (row % rowsAtOnce === rowsAtOnce - 1 && !(await breathe())) return false
      }
      return true
    }
    let row = from
    let asked = from
    const ahead: Read[] = []
    while (row < to) {
      while (ahead.length <= readsAhead && asked < to) {
        const next = this.#readFrom(lane, asked, to)
        // Avoids an unhandled rejection if the read is abandoned.
        next.bytes.catch(() => undefined)
        ahead.push(next)
        asked = next.end
      }
      const { end, offset, ...read } = ahead.shift()!
      const bytes = await read.bytes
      while (row < end) {
        row = this.#lookThrough(lane, subject, row, end, offset, bytes, current)
        if (!(await breathe())) return false
      }
    }
    return true
  }

  #readFrom(lane: LaneIndex, from: number, to: number): Read {
    const { offset } = lane.placeOf(from)
    let end = from
    let last = offset
    while (end < to) {
      const place = lane.lineAt(end)
      // The line of a forwarded message that was held is further down.
      if (place.offset < offset || (end > from && place.offset + place.sizeBytes > offset + readBytes)) break
      last = place.offset + place.sizeBytes
      end += 1
    }
    return { end, offset, bytes: lane.source.slice(offset, last - offset) }
  }

  /** Searches some rows; returns the first remaining one. */
  #lookThrough(
    lane: LaneIndex,
    subject: RowSubject,
    from: number,
    to: number,
    offset: number,
    bytes: Uint8Array,
    current: Filter,
  ): number {
    const first = lane.lineAt(from).offset - offset
    let end = from
    let last = first
    for (; end < to; end += 1) {
      const place = lane.lineAt(end)
      const lineEnd = place.offset - offset + place.sizeBytes
      if (end > from && lineEnd - first > lookBytes) break
      last = lineEnd
    }
    const chunk = bytes.subarray(first, last)
    const whole = utf8.decode(chunk)
    const ascii = whole.length === chunk.length
    const hits = ascii && this.#needles ? createAhead(whole, this.#needles) : undefined
    for (let row = from; row < end; row += 1) {
      const place = lane.lineAt(row)
      const start = place.offset - offset - first
      subject.row = row
      if (hits && !hits.isNear(start, start + place.sizeBytes)) subject.text = ''
      else {
        const line = ascii
          ? whole.slice(start, start + place.sizeBytes)
          : utf8.decode(chunk.subarray(start, start + place.sizeBytes))
        subject.text = rowTextIn(lane, row, line)
      }
      this.#mark(lane.globalOf(row), matchFilter(current, subject))
    }
    return end
  }

  /** An empty text ends the search. */
  set(wanted: string): void {
    this.#run += 1
    this.#text = wanted
    this.#bits = new Uint8Array((this.#library.length >> 3) + 1)
    this.#count = 0
    this.#done = []
    this.#redo = []
    this.#found = []
    this.#running = false
    const last = this.#library.lanes.reduce(
      (latest, lane) => Math.max(latest, lane.length === 0 ? 0 : lane.at(lane.length - 1)),
      0,
    )
    const parsed = parseFilter(wanted, { nowMs: last / 1000 })
    this.#filter = wanted.trim() === '' ? undefined : parsed.filter
    this.#needles = this.#filter && needlesOf(this.#filter.condition)
    void this.#work()
  }

  /** Rows arrived, or the given rows changed. */
  more(changed: readonly number[]): void {
    if (!this.#filter) return
    this.#redo.push(...changed)
    this.#again = true
    if (!this.#running) void this.#work()
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** A turn of the event loop without the delay that browsers impose on timers. */
const turn = new MessageChannel()

/** Whether a range contains a word or an escape; ranges must be ascending. */
function createAhead(
  text: string,
  { pattern, escape }: Needles,
): { isNear(start: number, end: number): boolean } {
  let hit = -1
  let escaped = -1
  return {
    isNear(start, end) {
      if (hit < start) {
        pattern.lastIndex = start
        hit = pattern.exec(text)?.index ?? Infinity
      }
      if (escaped < start) {
        const found = text.indexOf(escape, start)
        escaped = found < 0 ? Infinity : found
      }
      return hit < end || escaped < end
    },
  }
}

/** The exact text of a row's message in its line. */
function rowTextIn(lane: LaneIndex, row: number, line: string): string | null {
  if (line.startsWith('{"t":"') && !lane.fold.entries.has(row, 'batch')) {
    const at = line.indexOf('"raw":')
    if (at > 0 && at < 80) return line.slice(at + 6, skipValue(line, at + 6))
  }
  const decoded = decodeLine(line)
  if (!('record' in decoded)) return null
  const { record } = decoded
  if (isFrameRecord(record)) {
    const part = record.parts[lane.placeOf(row).part]
    return part ? record.raw.slice(part.start, part.end) : record.raw
  }
  if (record.type === 'note') return record.text
  return isLoneRecord(record) ? loneFacts(record).text : null
}
