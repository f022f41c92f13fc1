import {
  countOf,
  escapeLines,
  escapeText,
  formatBytes,
  formatDuration,
  formatOffset,
  indentJson,
  pad,
  truncate,
  type Style,
} from '../../render/index.js'
import type { Link } from '../../model/index.js'
import type { Fact, InspectRow } from './rows.js'

/** How the list is laid out. */
export interface ListLayout {
  readonly style: Style
  /** Cells of the terminal; undefined where lines may be as long as they are. */
  readonly columns: number | undefined
  readonly verbose: boolean
  /** Cells of the label column; 0 leaves it out. */
  readonly labelWidth: number
  readonly seqWidth: number
  readonly timeWidth: number
}

const whatWidth = 40
const idWidth = 6
const latencyWidth = 8
const sizeWidth = 7

export function listHeader(layout: ListLayout): string {
  const cells = [
    pad('#', layout.seqWidth, 'left'),
    pad('time', layout.timeWidth, 'left'),
    ...(layout.labelWidth > 0 ? [pad('server', layout.labelWidth)] : []),
    `  ${pad('what', whatWidth)}`,
    pad('id', idWidth),
    pad('latency', latencyWidth, 'left'),
    pad('size', sizeWidth, 'left'),
  ]
  return layout.style.dim(cells.join('  '))
}

/** One row and, when verbose, what it says below it. Ends without a line feed. */
export function listRow(row: InspectRow, layout: ListLayout): string {
  const { style } = layout
  const what = describe(row)
  const colour = colourOf(row, style)
  const notes = notesOf(row, style)
  const cells = [
    pad(row.seq < 0 ? '' : String(row.seq), layout.seqWidth, 'left'),
    style.dim(pad(formatOffset(row.us), layout.timeWidth, 'left')),
    ...(layout.labelWidth > 0
      ? [pad(truncate(escapeText(labelOf(row)), layout.labelWidth), layout.labelWidth)]
      : []),
    `${arrow(row, style)} ${colour(pad(truncate(what, whatWidth), whatWidth))}`,
    pad(truncate(escapeText(idOf(row)), idWidth), idWidth),
    pad(row.latencyUs === undefined ? '' : formatDuration(Math.max(0, row.latencyUs)), latencyWidth, 'left'),
    style.dim(
      pad(row.kind === 'gap' && row.sizeBytes === 0 ? '' : formatBytes(row.sizeBytes), sizeWidth, 'left'),
    ),
    notes,
  ]
  const line = cells.join('  ').trimEnd()
  if (!layout.verbose) return line
  const body = row.raw === '' ? '' : escapeLines(indentJson(row.raw))
  return body === '' ? line : `${line}\n${body.replaceAll(/^/gm, '      ')}`
}

function labelOf(row: InspectRow): string {
  return row.recording.fold.sessions[0]?.label ?? ''
}

function arrow(row: InspectRow, style: Style): string {
  if (row.kind === 'gap') return style.red('▒')
  if (row.kind === 'stderr') return style.dim('│')
  return row.direction === 'client_to_server' ? style.cyan('→') : style.green('←')
}

/** What the row is about, as a person would say it; escaped. */
function describe(row: InspectRow): string {
  const { record, part } = row
  switch (record.type) {
    case 'message':
      return describeMessage(row, part!.envelope)
    case 'noise':
      return `not JSON: ${quoted(record.text)}`
    case 'stderr':
      return escapeText(record.text.slice(0, 200))
    case 'gap':
      return record.lostStderr === undefined
        ? `gap: ${countOf(record.lost, 'message')} not recorded`
        : `gap: ${countOf(record.lost, 'message')}, ${countOf(record.lostStderr, 'stderr line')} lost`
    default:
      return ''
  }
}

function describeMessage(row: InspectRow, envelope: NonNullable<InspectRow['part']>['envelope']): string {
  const { kind } = envelope
  if (kind === 'request' || kind === 'notification')
    return escapeText(named(envelope.method ?? '', envelope.subject))
  if (kind === 'invalid') return `not JSON-RPC: ${escapeText(envelope.problem ?? '')}`
  const { request } = row
  const answered = request ? ` ${escapeText(named(request.method, request.subject))}` : ''
  return `${kind}${answered}`
}

function named(method: string, subject: string | undefined): string {
  return subject === undefined ? method.slice(0, 200) : `${method.slice(0, 200)} ${subject.slice(0, 200)}`
}

function quoted(text: string): string {
  return `"${escapeText(text.slice(0, 200))}"`
}

/** Ids and tokens are shown as their exact text, so that `1` and `"1"` look different. */
function idOf(row: InspectRow): string {
  return row.part?.envelope.id ?? ''
}

function colourOf(row: InspectRow, style: Style): (text: string) => string {
  if (row.kind === 'gap' || row.kind === 'error' || row.facts.has('tool-error')) return style.red
  if (row.kind === 'noise' || row.kind === 'invalid') return style.yellow
  if (row.kind === 'stderr') return style.dim
  return (text) => text
}

const factWords: Readonly<Record<Fact, string>> = {
  unanswered: 'unanswered',
  late: 'late: answered before',
  orphan: 'answers nothing on this recording',
  duplicate: 'id used twice at the same time',
  'tool-error': 'tool error',
  cancelled: 'cancelled',
  undelivered: 'not delivered',
  batch: 'batch',
}

function notesOf(row: InspectRow, style: Style): string {
  const notes: string[] = []
  for (const fact of row.facts) {
    const words = factWords[fact]
    notes.push(fact === 'batch' || fact === 'cancelled' ? style.dim(words) : style.yellow(words))
  }
  const envelope = row.part?.envelope
  if (envelope?.kind === 'error') {
    const message = escapeText((envelope.errorMessage ?? '').slice(0, 120))
    notes.push(style.red(`${escapeText(envelope.errorCode ?? '')} ${message}`.trim()))
  }
  if (envelope?.resultType !== undefined && envelope.resultType !== 'complete')
    notes.push(escapeText(envelope.resultType))
  for (const link of row.part?.links ?? []) notes.push(style.dim(linkWords[link.kind]))
  if (row.record.type === 'gap') notes.push(style.red(escapeText(row.record.why)))
  return notes.join(', ')
}

const linkWords: Readonly<Record<Link['kind'], string>> = {
  progress: 'progress',
  cancel: 'cancels a request',
  task: 'task',
  round: 'next round of a request',
  subscription: 'subscription',
}
