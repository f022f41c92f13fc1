import {
  escapeText,
  factWords,
  formatBytes,
  formatDuration,
  longestName,
  pad,
  rowContent,
  rowLine as rowLineText,
  rowMatter,
  rowView,
  truncate,
  widthOf,
  type RowTone,
} from '../render/index.js'
import type { LogRow, RowState } from './message-log.js'
import { span, type Line, type Span, type Tone } from './spans.js'

/** Signs that the terminal can show. */
export interface Signs {
  readonly toServer: string
  readonly toClient: string
  readonly state: Readonly<Record<RowState, string>>
  readonly rule: string
  readonly range: string
  readonly live: string
}

export const unicodeSigns: Signs = {
  toServer: '▶',
  toClient: '◀',
  state: { passed: ' ', waiting: '⏸', dropped: '✕', modified: '✎', injected: '+', undelivered: '!' },
  rule: '─',
  range: '–',
  live: '●',
}

export const asciiSigns: Signs = {
  toServer: '>',
  toClient: '<',
  state: { passed: ' ', waiting: '=', dropped: 'x', modified: '~', injected: '+', undelivered: '!' },
  rule: '-',
  range: '-',
  live: '*',
}

const stateTones: Readonly<Record<RowState, Tone>> = {
  passed: 'plain',
  waiting: 'yellow',
  dropped: 'red',
  modified: 'magenta',
  injected: 'magenta',
  undelivered: 'yellow',
}

/** Columns for a list of this width; less important ones are omitted first. */
function columnsFor(width: number): {
  readonly time: number
  readonly latency: number
  readonly size: number
  readonly id: number
} {
  return {
    time: width >= 60 ? 12 : width >= 44 ? 8 : 0,
    id: width >= 72 ? 6 : 0,
    latency: width >= 50 ? 8 : 0,
    size: width >= 66 ? 7 : 0,
  }
}

export function headLine(width: number): Line {
  const { time, id, latency, size } = columnsFor(width)
  const right = rightCells(latency && 'latency', size && 'size', id && 'id', { latency, size, id })
  const left = `${time === 0 ? '' : `${pad('time', time)} `}    message`
  return [span(pad(left, width - right.length), 'dim'), span(right, 'dim')]
}

/** One row of the list, `width` cells wide. */
export function rowLine(row: LogRow, width: number, signs: Signs): Line {
  const columns = columnsFor(width)
  const { time, latency, size } = columns
  const toServer = row.direction === 'client_to_server'
  const isMessage = row.seq >= 0
  const left: Span[] = []
  if (time > 0) left.push(span(`${pad(timeOf(row, time), time)} `, 'dim'))
  left.push(span(isMessage ? (toServer ? signs.toServer : signs.toClient) : ' ', toServer ? 'cyan' : 'green'))
  left.push(span(` ${signs.state[row.state]} `, stateTones[row.state]))
  const right = rightCells(
    latency > 0 && row.latencyUs !== undefined ? formatDuration(row.latencyUs) : '',
    size > 0 && row.sizeBytes > 0 ? formatBytes(row.sizeBytes) : '',
    idOf(row),
    columns,
  )
  const room = Math.max(0, width - left.reduce((sum, { text }) => sum + text.length, 0) - right.length)
  return [...left, ...fitted(whatOf(row), contentOf(row), noteOf(row), room), span(right, 'dim')]
}

/** Notes of people, and the rules with findings of level error and warning. */
function noteOf({ notes, findings }: LogRow): string {
  const ids = new Set(findings.flatMap(({ level, rule }) => (level === 'note' ? [] : [`! ${rule.id}`])))
  const found = ids.size === 0 ? '' : `  ${[...ids].join(' ')}`
  return notes.length === 0 ? found : `  note: ${short(notes.join(' · '))}${found}`
}

/** Content that distinguishes a message from others of its method, if still kept. */
function contentOf({ record, part, kind, request }: LogRow): string {
  const text = rowContent(record, part, kind, request)
  return text === '' ? '' : `  ${text}`
}

/** Exactly `room` cells. A note gets the remaining room, but at least a third; the content gets the rest. */
function fitted(said: Span, content: string, note: string, room: number): Span[] {
  const forNote = Math.min(widthOf(note), Math.max(room - widthOf(said.text), Math.floor(room / 3)))
  const text = truncate(said.text, room - forNote)
  const rest = room - widthOf(text)
  if (note === '') return [span(text, said.tone), span(pad(truncate(content, rest), rest))]
  const shownContent = truncate(content, Math.max(0, rest - widthOf(note)))
  const forNotes = rest - widthOf(shownContent)
  return [span(text, said.tone), span(shownContent), span(pad(truncate(note, forNotes), forNotes), 'cyan')]
}

function rightCells(
  latency: string | 0,
  size: string | 0,
  id: string | 0,
  widths: { latency: number; size: number; id: number },
): string {
  const cell = (text: string | 0, width: number): string =>
    width === 0 ? '' : ` ${pad(truncate(text || '', width), width, 'left')}`
  return cell(id, widths.id) + cell(latency, widths.latency) + cell(size, widths.size)
}

/** The time of day in the user's zone. */
function timeOf(row: LogRow, width: number): string {
  const { record } = row
  const at = new Date(record.type === 'unknown' ? NaN : (record.t ?? NaN))
  if (Number.isNaN(at.getTime())) return ''
  const two = (n: number): string => String(n).padStart(2, '0')
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return width < 12 ? time : `${time}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

function idOf(row: LogRow): string {
  return escapeText((row.part?.envelope.id ?? '').slice(0, longestName))
}

/** The method and subject of the row; escaped. */
export function whatOf(row: LogRow): Span {
  const { record, part, kind } = row
  const view = rowView(rowMatter(record, part, kind), row.request, row.failed)
  const tone = toneOf(row, view.tone)
  const line = rowLineText(
    { ...view, kind: kind === 'result' && row.failed ? factWords['tool-error'].text : view.kind },
    kind,
  )
  if (kind === 'error') return span(`${line}: ${view.said}`, tone)
  return span(kind === 'gap' ? `${line}, ${view.why}` : line, tone)
}

/** Held and failed requests stand out; notifications are dimmed. */
function toneOf({ kind, state, failed }: LogRow, tone: RowTone): Tone {
  if (kind !== 'request' && kind !== 'notification') return tone
  if (state === 'waiting') return 'yellow'
  return failed ? 'red' : kind === 'request' ? tone : 'dim'
}

function short(text: string): string {
  return escapeText(text.length <= longestName ? text : `${text.slice(0, longestName)}…`)
}
