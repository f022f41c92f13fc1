import type { TapeRecord } from '../model/index.js'
import { escapeText, formatBytes, formatDuration, pad, truncate, widthOf } from '../render/index.js'
import type { LogRow, RowState } from './message-log.js'
import { span, type Line, type Span, type Tone } from './spans.js'

/** Signs that a terminal can show. */
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

/** Characters of a name that a peer chose, at most. */
const longestName = 200

const stateTones: Readonly<Record<RowState, Tone>> = {
  passed: 'plain',
  waiting: 'yellow',
  dropped: 'red',
  modified: 'magenta',
  injected: 'magenta',
  undelivered: 'yellow',
}

/** Columns of a list of so many cells; what is less important goes first. */
export function columnsFor(width: number): {
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
  const right = rightCells(latency && 'took', size && 'size', id && 'id', { latency, size, id })
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
  const said = whatOf(row)
  return [...left, ...fitted(said, noteOf(row), room), span(right, 'dim')]
}

function noteOf({ notes }: LogRow): string {
  return notes.length === 0 ? '' : `  note: ${short(notes.join(' · '))}`
}

/** Exactly `room` cells. A note gets the room that is left, and a third of it all the same. */
function fitted(said: Span, note: string, room: number): Span[] {
  const forNote = Math.min(widthOf(note), Math.max(room - widthOf(said.text), Math.floor(room / 3)))
  const text = truncate(said.text, room - forNote)
  const rest = room - widthOf(text)
  if (note === '') return [span(pad(text, room), said.tone)]
  return [span(text, said.tone), span(pad(truncate(note, rest), rest), 'cyan')]
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

/** What the row is about; escaped. */
export function whatOf(row: LogRow): Span {
  const { record, part, kind } = row
  switch (record.type) {
    case 'noise':
      return span(`not JSON: ${short(record.text)}`, 'yellow')
    case 'stderr':
      return span(short(record.text), 'dim')
    case 'gap':
      return span(`gap: ${record.lost} not recorded, ${short(record.why)}`, 'red')
    case 'http':
      return httpOf(record)
    case 'message':
    case 'held':
      break
    default:
      return span('', 'dim')
  }
  const envelope = part!.envelope
  if (kind === 'request' || kind === 'notification') {
    const text = named(envelope.method ?? '', envelope.subject)
    if (row.state === 'waiting') return span(text, 'yellow')
    return span(text, row.failed ? 'red' : kind === 'request' ? 'plain' : 'dim')
  }
  if (kind === 'invalid') return span(`not JSON-RPC: ${short(envelope.problem ?? '')}`, 'yellow')
  const of = row.request ? ` ${named(row.request.method, row.request.subject)}` : ''
  if (kind === 'error') {
    return span(`error${of}: ${short(envelope.errorCode ?? '')} ${short(envelope.errorMessage ?? '')}`, 'red')
  }
  return row.failed ? span(`tool error${of}`, 'red') : span(`result${of}`, 'dim')
}

/** An exchange without a message in its response. What we answered in the server's place is no failure. */
function httpOf({ status, why, method, path }: Extract<TapeRecord, { type: 'http' }>): Span {
  const of = `${short(method)} ${short(path)}`
  if (status !== undefined) return span(`${status} ${of}`, status >= 400 ? 'red' : 'dim')
  const ours = /, answered (\d+) by wiretape$/.exec(why ?? '')?.[1]
  if (ours === undefined) return span(`no response ${of}`, 'red')
  return span(`${ours} by wiretape ${of}`, Number(ours) >= 400 ? 'red' : 'dim')
}

function named(method: string, subject: string | undefined): string {
  return subject === undefined ? short(method) : `${short(method)} ${short(subject)}`
}

function short(text: string): string {
  return escapeText(text.length <= longestName ? text : `${text.slice(0, longestName)}…`)
}
