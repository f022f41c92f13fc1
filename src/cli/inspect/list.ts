import {
  escapeLines,
  escapeText,
  formatBytes,
  formatDuration,
  formatOffset,
  indentedPieces,
  isTellable,
  longestName,
  pad,
  phaseWords,
  truncate,
  widthOf,
  type Style,
} from '../../render/index.js'
import { noTime, type Session } from '../../model/index.js'
import { maxOf, minOf } from '../extremes.js'
import type { LoadedRecording } from '../recordings.js'
import { wordsOf, type Note } from './describe.js'
import type { InspectRow } from './inspect-row.js'

/** Layout of the list. The description comes last: its length varies and no column has to align after it. */
export interface ListLayout {
  readonly style: Style
  /** Terminal width in cells; undefined for unlimited lines. */
  readonly columns: number | undefined
  readonly verbose: boolean
  /** Start of the first recording, from which times count. */
  readonly startMs: number
  readonly cells: readonly Column[]
  /** Cells left for the description. */
  readonly room: number
}

interface Column {
  readonly name: string
  readonly width: number
  readonly side: 'left' | 'right'
  /** Plain text, escaped. */
  readonly text: (row: InspectRow, layout: ListLayout) => string
  readonly dim?: true
}

const gap = '  '
/** With less room for the description, columns are omitted, the first one first. */
const givenUp = [
  { name: 'size', below: 30 },
  { name: 'latency', below: 30 },
  { name: 'id', below: 30 },
  { name: 'time', below: 10 },
  { name: 'server', below: 10 },
  { name: '#', below: 10 },
] as const

export function layoutOf(
  recordings: readonly LoadedRecording[],
  options: { style: Style; columns: number | undefined; verbose: boolean },
): ListLayout {
  return layoutFor(extentOf(recordings), recordings, options)
}

/** Layout for future rows. @param startMs start of their session */
export function liveLayout(
  startMs: number,
  options: { style: Style; columns: number | undefined },
): ListLayout {
  // Wide enough for an hour and 100,000 messages; wider values shift their line.
  return layoutFor({ seq: 99_999, time: 8, id: 8, startMs }, [], { ...options, verbose: false })
}

function layoutFor(
  extent: ReturnType<typeof extentOf>,
  recordings: readonly LoadedRecording[],
  options: { style: Style; columns: number | undefined; verbose: boolean },
): ListLayout {
  let cells: Column[] = [
    { name: '#', width: Math.max(3, String(extent.seq).length), side: 'left', text: seqOf },
    { name: 'time', width: Math.max(6, extent.time), side: 'left', text: timeOf, dim: true },
    ...(recordings.length > 1 ? [labelColumn(recordings)] : []),
    { name: 'id', width: Math.max(2, Math.min(8, extent.id)), side: 'right', text: idOf },
    { name: 'latency', width: 7, side: 'left', text: latencyOf },
    { name: 'size', width: 6, side: 'left', text: sizeOf, dim: true },
  ]
  const columns = options.columns ?? Infinity
  const room = (): number => columns - cells.reduce((sum, { width }) => sum + width + gap.length, 2)
  for (const { name, below } of givenUp) {
    if (room() < below) cells = cells.filter((cell) => cell.name !== name)
  }
  return { ...options, startMs: extent.startMs, cells, room: Math.max(1, room()) }
}

/** Widest values of the columns, and the base of times. */
function extentOf(recordings: readonly LoadedRecording[]): {
  seq: number
  /** Characters; slightly too many if one recording holds several sessions. */
  time: number
  id: number
  startMs: number
} {
  const starts = recordings.map(({ fold }) => startsOf(fold.sessions))
  const startMs = minOf(starts.flat())
  const extent = { seq: 0, time: 0, id: 0, startMs }
  for (const [i, { fold, longestId }] of recordings.entries()) {
    const { entries } = fold
    const lastStartUs = (maxOf(starts[i]!, startMs) - startMs) * 1000 || 0
    let first = 0
    let last = 0
    for (let row = 0; row < entries.length; row += 1) {
      extent.seq = Math.max(extent.seq, entries.seq(row))
      const us = entries.us(row)
      if (!isTellable(us)) continue
      first = Math.min(first, us)
      last = Math.max(last, us)
    }
    extent.time = Math.max(extent.time, formatOffset(first).length, formatOffset(last + lastStartUs).length)
    extent.id = Math.max(extent.id, longestId)
  }
  return extent
}

/** Known wall clocks. */
function startsOf(sessions: readonly Session[]): number[] {
  return sessions
    .filter(({ startedAt }) => startedAt !== noTime)
    .map(({ startedAt }) => Date.parse(startedAt))
    .filter((ms) => !Number.isNaN(ms))
}

function labelColumn(recordings: readonly LoadedRecording[]): Column {
  const labels = recordings.flatMap(({ fold }) =>
    fold.sessions.map(({ label }) => widthOf(escapeText(label))),
  )
  return {
    name: 'server',
    width: Math.min(20, maxOf(labels, 6)),
    side: 'right',
    text: (row) => escapeText(row.session?.label.slice(0, longestName) ?? ''),
  }
}

export function listHeader(layout: ListLayout): string {
  const names = layout.cells.map(({ name, width, side }) => pad(name, width, side))
  return layout.style.dim(truncate([...names, '  what'].join(gap), layout.columns ?? Infinity))
}

/** One row and, if verbose, its content below. Ends without a line feed. */
export function listRow(row: InspectRow, layout: ListLayout): string {
  const { style } = layout
  let line = ''
  for (const { width, side, text, dim } of layout.cells) {
    const cell = pad(truncate(text(row, layout), width), width, side)
    line += (dim ? style.dim(cell) : cell) + gap
  }
  const { what, content, notes } = wordsOf(row)
  const [shownWhat, shownNotes] = fit(what.text, notes, layout.room)
  line += `${arrow(row, style)} ${style[what.tone](shownWhat)}`
  const noted = shownNotes.reduce((sum, { text }) => sum + 3 + widthOf(text), 0)
  const left = layout.room - widthOf(shownWhat) - noted - gap.length
  // Verbose rows show the whole content below.
  if (content !== '' && !layout.verbose && left >= leastContent) line += `${gap}${truncate(content, left)}`
  for (const { text, tone } of shownNotes) line += `${style.dim(' · ')}${style[tone](text)}`
  if (!layout.verbose) return line
  const below = [bodyOf(row, shownWhat !== what.text), phasesOf(row)].filter((text) => text !== '')
  return [line, ...below.map((text) => `${margin}${text}`)].join('\n')
}

/** Fewest cells for useful content. */
const leastContent = 8

/** Notes describe problems, so they get up to half of the width before they are truncated. */
function fit(what: string, notes: readonly Note[], room: number): [string, readonly Note[]] {
  if (room === Infinity) return [what, notes]
  const wanted = notes.reduce((sum, { text }) => sum + 3 + widthOf(text), 0)
  const forNotes = Math.min(wanted, Math.max(room - widthOf(what), Math.floor(room / 2)))
  const shown: Note[] = []
  let left = forNotes
  for (const note of notes) {
    if (left < 5) break
    const text = truncate(note.text, left - 3)
    left -= 3 + widthOf(text)
    shown.push({ ...note, text })
  }
  return [truncate(what, room - forNotes), shown]
}

const margin = ' '.repeat(6)

/** The part that `--verbose` shows below a row, indented: the payload, or a line too long for its row. */
function bodyOf(row: InspectRow, cut: boolean): string {
  const { record } = row
  let body = ''
  // `replaceAll` would create a rope of small pieces, ten times as large.
  for (const piece of indentedPieces(row.raw)) body += escapeLines(piece).split('\n').join(`\n${margin}`)
  if (body !== '') return body
  if (record.type !== 'noise' && record.type !== 'stderr') return ''
  return cut || record.text.length > longestName ? escapeText(record.text) : ''
}

/** The first message of a response shows the phases of its HTTP exchange. */
function phasesOf({ record, part }: InspectRow): string {
  if (record.type === 'http') return record.phases ? `HTTP: ${phaseWords(record.phases)}` : ''
  const phases = record.type === 'message' && part === record.parts[0] ? record.http?.phases : undefined
  return phases ? `HTTP: ${phaseWords(phases)}` : ''
}

/** Placeholder for unknown times. */
const unknown = '–'

function seqOf(row: InspectRow): string {
  return row.seq < 0 ? '' : String(row.seq)
}

function timeOf(row: InspectRow, layout: ListLayout): string {
  if (row.us === undefined) return unknown
  const afterMs = Number.isNaN(row.startMs) ? 0 : row.startMs - layout.startMs
  return formatOffset(row.us + afterMs * 1000)
}

/** Ids and tokens are shown as their exact text, so that `1` and `"1"` look different. */
function idOf(row: InspectRow): string {
  return escapeText(row.part?.envelope.id?.slice(0, longestName) ?? '')
}

function latencyOf(row: InspectRow): string {
  if (row.latencyUs !== undefined) return formatDuration(Math.max(0, row.latencyUs))
  return row.us === undefined && row.answers !== undefined ? unknown : ''
}

function sizeOf(row: InspectRow): string {
  return row.kind === 'gap' && row.sizeBytes === 0 ? '' : formatBytes(row.sizeBytes)
}

function arrow(row: InspectRow, style: Style): string {
  if (row.kind === 'gap') return style.red('▒')
  if (row.kind === 'stderr') return style.dim('│')
  return row.direction === 'client_to_server' ? style.cyan('→') : style.green('←')
}
