import { noTime, type Session } from '../../model/index.js'
import {
  countOf,
  escapeText,
  formatBytes,
  formatCount,
  formatDuration,
  truncate,
  unknownDuration,
  waitedWords,
  wrapPieces,
  type Style,
} from '../../render/index.js'
import { maxOf } from '../extremes.js'
import type { FoundInRecording } from '../found-rows.js'
import type { LoadedRecording } from '../recordings.js'
import type { Fault } from './faults.js'
import { latencyOf } from './latency.js'
import { mergedLines } from './merged-lines.js'

/** Output format of text. */
export interface Page {
  readonly style: Style
  /** Terminal width in cells; undefined for unlimited lines. */
  readonly columns: number | undefined
}

/** Most characters of a text from a peer or a command line. */
const longestText = 2_000

/** Clients listed per session. */
const mostClients = 10

/** Facts about a session, printed above its messages. */
export function sessionHeader(session: Session, { style, columns }: Page, unended = 'incomplete'): string {
  const command = session.command
    .map((word) => (/[^\w@%+=:,./-]/.test(word) || word === '' ? JSON.stringify(word) : word))
    .join(' ')
  const label = fitted(session.label, columns)
  const target = `${label}  ${fitted(session.url ?? command, Infinity)}`.trimEnd()
  const shown = columns === undefined ? target : truncate(target, columns)
  const lines = [`${style.bold(label)}${style.dim(shown.slice(label.length))}`]
  const isTimed = session.startedAt !== noTime
  const facts = [isTimed ? `started ${session.startedAt.replace('T', ' ')}` : 'no times recorded']
  if (session.durationMs !== undefined) {
    const ran = formatDuration(session.durationMs * 1000)
    facts.push(ran === unknownDuration ? 'duration unknown' : `duration ${ran}`)
  }
  if (session.recovered) facts.push('recovered, end unknown')
  else if (session.error !== undefined) facts.push(session.error)
  else if (session.signal !== undefined) facts.push(`ended by ${session.signal}`)
  else if (session.exitCode !== undefined && session.complete) facts.push(`exit ${session.exitCode}`)
  if (!session.complete) facts.push(session.continues ? 'continues in the next file' : unended)
  lines.push(pieces(facts, columns))
  const peers: string[] = []
  const clients = session.clients.map(({ name, version }) => `${name} ${version}`.trim())
  const more = clients.length > mostClients ? ` and ${clients.length - mostClients} more` : ''
  if (clients.length > 0)
    peers.push(`client${clients.length > 1 ? 's' : ''} ${clients.slice(0, mostClients).join(', ')}${more}`)
  if (session.server) peers.push(`server ${session.server.name} ${session.server.version}`.trim())
  if (session.protocolVersion !== undefined) peers.push(`MCP ${session.protocolVersion}`)
  if (peers.length > 0) lines.push(pieces(peers, columns))
  for (const [name, text] of session.metadata) {
    const merged = name === 'merged' ? mergedLines(text) : undefined
    if (merged) lines.push(...merged.map((line) => fitted(line, columns)))
    else lines.push(fitted(`${name}: ${plain(text)}`, columns))
  }
  return `${lines.join('\n')}\n`
}

function pieces(list: readonly string[], columns: number | undefined): string {
  return wrapPieces(
    list.map((text) => fitted(text, undefined)),
    ' · ',
    columns,
  )
}

function fitted(text: string, columns: number | undefined): string {
  return truncate(escapeText(text.slice(0, longestText)), columns ?? Infinity)
}

/** A string without quotes; anything else as JSON. */
function plain(json: string): string {
  const value = JSON.parse(json) as unknown
  return typeof value === 'string' ? value : json
}

/** Totals of a recording, printed below its messages. */
export function recordingSummary(
  recording: LoadedRecording,
  faults: readonly Fault[],
  label: string | undefined,
  page: Page,
  found?: FoundInRecording,
): string {
  const { style, columns } = page
  const { entries } = recording.fold
  const c = recording.fold.counts()
  const messages = countOf(c.messages, 'message')
  const parts = [
    `${label === undefined ? '' : `${fitted(label, 60)}: `}${messages}`,
    countOf(c.requests, 'request'),
    countOf(c.results, 'result'),
  ]
  if (c.errors > 0) parts.push(countOf(c.errors, 'error'))
  if (c.notifications > 0) parts.push(countOf(c.notifications, 'notification'))
  if (c.invalid > 0) parts.push(`${formatCount(c.invalid)} not JSON-RPC`)
  if (c.toolErrors > 0) parts.push(countOf(c.toolErrors, 'tool error'))
  if (c.cancelled > 0) parts.push(`${formatCount(c.cancelled)} cancelled`)
  if (c.noise > 0) parts.push(countOf(c.noise, 'line of noise', 'lines of noise'))
  if (c.stderr > 0) parts.push(countOf(c.stderr, 'stderr line'))
  if (c.held > 0) parts.push(`${formatCount(c.held)} held`)
  if (c.waiting > 0) parts.push(`${formatCount(c.waiting)} never forwarded`)
  if (c.modified > 0) parts.push(`${formatCount(c.modified)} edited`)
  if (c.dropped > c.answeredHere) parts.push(`${formatCount(c.dropped - c.answeredHere)} dropped`)
  if (c.answeredHere > 0) parts.push(`${formatCount(c.answeredHere)} answered by wiretape`)
  if (c.injected > 0) parts.push(`${formatCount(c.injected)} injected`)
  if (c.restarts > 0) parts.push(countOf(c.restarts, 'server restart'))
  const counted = wrapPieces(parts, ' · ', columns)
  const lines = [style.bold(counted.slice(0, parts[0]!.length)) + counted.slice(parts[0]!.length)]
  for (const [direction, who] of [
    ['server_to_client', 'server'],
    ['client_to_server', 'client'],
  ] as const) {
    const latency = latencyOf(entries, direction)
    if (!latency) continue
    const slowest = `${formatDuration(latency.slowestUs)} (#${latency.slowest})`
    const spread = [`p50 ${formatDuration(latency.p50Us)}`, `p95 ${formatDuration(latency.p95Us)}`]
    const said = latency.answers > 1 ? [...spread, `slowest ${slowest}`] : [slowest]
    if (latency.waitedUs > 0) said.push(waitedWords(latency.waitedUs))
    lines.push(wrapPieces([`${who} answered in ${said[0]}`, ...said.slice(1)], ', ', columns))
  }
  lines.push(...noteLines(recording, page))
  for (const fault of faults) lines.push(`${style.yellow('!')} ${faultText(fault, columns, 2)}`)
  if (faults.length === 0) lines.push(`${style.green('✓')} no faults`)
  if (found && found.found.length > 0) lines.push(foundLine(found, page))
  return `${lines.join('\n')}\n`
}

/** Number of findings, and the command that lists them. */
function foundLine({ found, left }: FoundInRecording, { columns, style }: Page): string {
  const counts = (['error', 'warning', 'note'] as const).flatMap((level) => {
    const count = found.filter((finding) => finding.level === level).length
    return count === 0 ? [] : [countOf(count, level)]
  })
  const more = left === 0 ? '' : ` and ${formatCount(left)} more`
  const text = `findings: ${counts.join(', ')}${more} (list them with wiretape check)`
  return `${style.yellow('!')} ${spread(text, columns, 2)}`
}

/** Notes shown here; `--json` has more. */
const mostNotes = 20

function noteLines({ notes, problems }: LoadedRecording, { columns }: Page): string[] {
  // These problems repeat the notes.
  if (problems.some(({ code }) => code === 'client-error')) return []
  const lines = notes.list.slice(0, mostNotes).map(({ text, place, sequence }) => {
    const where = sequence === undefined ? '' : ` ${place} #${sequence}`
    return spread(`note${where}: ${text}`, columns, 2)
  })
  if (notes.count > lines.length) lines.push(`and ${countOf(notes.count - lines.length, 'more note')}`)
  return lines
}

/** Number of rows that match a filter. */
export function matchSummary(shown: number, rows: number, words: string, { style, columns }: Page): string {
  const counted = `${formatCount(shown)} of ${countOf(rows, 'row')}:`
  const text = wrapPieces([counted, ...fitted(words, undefined).split(' ')], ' ', columns)
  return `${style.bold(text.slice(0, counted.length))}${style.dim(text.slice(counted.length))}\n`
}

/** The report of `--check`. */
export function checkReport(recording: LoadedRecording, faults: readonly Fault[], page: Page): string {
  const { style, columns } = page
  const names = recording.files.map(({ name }) => escapeText(name)).join(', ')
  const size = recording.files.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  const counted = [countOf(recording.fold.counts().messages, 'message'), formatBytes(size)]
  const head = (end: string): string =>
    wrapPieces(
      [`${names}: ${counted[0]}`, ...counted.slice(1), end],
      ', ',
      columns && columns - 2,
    ).replaceAll('\n', '\n  ')
  const redacted = redactionLine(recording, columns)
  if (faults.length === 0) return `${style.green('✓')} ${head('no faults')}\n${redacted}`
  const width = maxOf(
    faults.map(({ code }) => code.length),
    0,
  )
  const beside = columns === undefined || columns - width - 4 >= leastText
  const lines = faults.map((fault) => {
    if (!beside) return `  ${style.yellow(fault.code)}\n    ${faultText(fault, columns, 4, true)}`
    const code = style.yellow(fault.code.padEnd(width))
    return `  ${code}  ${faultText(fault, columns, width + 4, true)}`
  })
  return `${style.red('✗')} ${head(countOf(faults.length, 'fault'))}\n${lines.join('\n')}\n${redacted}`
}

/** Number of redacted values by rule; empty without any. */
function redactionLine({ fold }: LoadedRecording, columns: number | undefined): string {
  const counts = fold.sessions.flatMap(({ redacted = [] }) => redacted)
  if (counts.length === 0) return ''
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const rules = counts.map(({ rule, count }) => `${fitted(rule, 60)} ${formatCount(count)}`)
  const [first, ...others] = rules
  const words = [`redacted ${countOf(total, 'value')}: ${first}`, ...others]
  return `  ${wrapPieces(words, ', ', columns && columns - 2).replaceAll('\n', '\n  ')}\n`
}

/** Cells; with fewer beside its code, a fault's text gets its own lines. */
const leastText = 20

/** On a terminal, wrapped to fit beside `indent` cells. */
function faultText(fault: Fault, columns: number | undefined, indent: number, withRule = false): string {
  const { messages = [] } = fault
  const numbers = messages.map((seq) => `#${seq}`).join(' ')
  const more = fault.count > messages.length && messages.length > 0 ? ' …' : ''
  const rule = withRule && fault.rule !== undefined ? ` [${fault.rule}]` : ''
  return spread(`${fault.message}${numbers === '' ? '' : ` (${numbers}${more})`}${rule}`, columns, indent)
}

function spread(said: string, columns: number | undefined, indent: number): string {
  const text = fitted(said, undefined)
  const width = columns === undefined ? undefined : Math.max(1, columns - indent)
  return wrapPieces(text.split(' '), ' ', width).replaceAll('\n', `\n${' '.repeat(indent)}`)
}
