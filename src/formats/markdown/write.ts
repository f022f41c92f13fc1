import { joinCommandLine, noTime, type Direction, type MetaRecord, type Report } from '../../model/index.js'
import {
  countOf,
  formatBytes,
  formatDuration,
  formatOffset,
  indentJson,
  markdownJson,
  markdownText,
} from '../../render/index.js'
import type { Recording } from '../format.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { metaOf, tellRecords, type Told, type ToldMessage } from '../told/told.js'

/** Maximum number of characters of a name or error in a line. */
const longestName = 200

/** Description of the recording, a table of its messages, and each message with its payload. */
export function writeMarkdown(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  return textChunks(textOf(recording, report), recording)
}

async function* textOf(recording: Recording, report: Report): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  const meta = await metaOf(recording)
  yield headText(meta)
  yield '| # | time | | what | latency | size |\n|--:|--:|:-:|---|--:|--:|\n'
  let count = 0
  for await (const told of tellRecords(recording)) {
    if (told.kind === 'message') count += 1
    const row = tableRow(told)
    if (row !== undefined) yield row
    noteLosses(told, losses)
  }
  yield `\n${countOf(count, 'message')}.\n`
  let isFirst = true
  for await (const told of tellRecords(recording)) {
    const section = sectionOf(told)
    if (section === undefined) continue
    if (isFirst) yield '\n## Messages\n'
    isFirst = false
    yield section
  }
  losses.tell()
}

function noteLosses(told: Told, losses: ReturnType<typeof createLosses>): void {
  if (told.kind === 'message') {
    if (told.part === told.record.parts[0]) {
      if (told.record.batch) losses.add('batches are written message by message')
      losses.marks(told.record)
      losses.conversation(told.record)
    }
    if (told.record.http?.headers) losses.add('HTTP headers are left out')
    losses.add('ids, links and original white space of messages are left out')
  } else if (!['meta', 'end', 'noise', 'stderr', 'gap', 'http'].includes(told.record.type))
    losses.record(told.record)
}

function headText(meta: MetaRecord | undefined): string {
  const label = meta?.label ?? ''
  const lines = [`# ${label === '' ? 'MCP session' : inLine(label)}`, '']
  if (meta) {
    if (meta.startedAt !== noTime) lines.push(`- started ${inLine(meta.startedAt)}`)
    if (meta.command.length > 0) lines.push(`- server ${inLine(joinCommandLine(meta.command))}`)
    const { url, transport, redaction } = meta.wiretape ?? {}
    if (url) lines.push(`- server ${inLine(url)}`)
    if (transport) lines.push(`- transport ${inLine(transport)}`)
    if (redaction) lines.push(`- redaction ${inLine(redaction)}`)
  }
  return `${lines.join('\n')}\n\n`
}

/** Placeholder for times that are missing in the recording. */
const unknown = '–'

function time(us: number | undefined): string {
  return us === undefined ? unknown : formatOffset(us)
}

function tableRow(told: Told): string | undefined {
  if (told.kind === 'message') {
    const { record, seq, us, request, latencyUs, sizeBytes } = told
    const latency = latencyUs === undefined ? (request ? unknown : '') : formatDuration(latencyUs)
    const cells = [seq, time(us), arrow(record.direction), whatOf(told), latency, formatBytes(sizeBytes)]
    return `| ${cells.join(' | ')} |\n`
  }
  const { record, us } = told
  if (record.type === 'noise')
    return `| | ${time(us)} | ${arrow(record.direction)} | not JSON: ${inCell(record.text)} | | |\n`
  if (record.type === 'gap')
    return `| | ${time(us)} | ▒ | ${record.lost} messages are not recorded: ${inCell(record.why)} | | |\n`
  if (record.type === 'stderr') return `| | ${time(us)} | │ | stderr: ${inCell(record.text)} | | |\n`
  if (record.type !== 'http') return undefined
  const status = record.status ?? 'no response'
  return `| | ${time(us)} | ← | HTTP ${status} of ${inCell(`${record.method} ${record.path}`)} | | |\n`
}

function whatOf({ part, request }: ToldMessage): string {
  const { envelope } = part
  const about = envelope.method === undefined ? request?.envelope : envelope
  const name = [about?.method, about?.subject]
    .filter((word) => word !== undefined)
    .map((word) => inCell(word))
    .join(' ')
  if (envelope.method !== undefined) return name
  const of = request ? ` of #${request.seq} ${name}` : ''
  if (envelope.kind === 'error') {
    return `**error**${of}: ${inCell(`${envelope.errorCode ?? ''} ${envelope.errorMessage ?? ''}`.trim())}`
  }
  if (envelope.kind === 'invalid') return `not JSON-RPC: ${inCell(envelope.problem ?? '')}`
  return `${envelope.toolError ? '**tool error**' : 'result'}${of}`
}

function sectionOf(told: Told): string | undefined {
  if (told.kind !== 'message') return undefined
  const { record, seq, text } = told
  const { method, subject } = told.part.envelope
  const name = [method ?? told.part.envelope.kind, subject].filter((word) => word !== undefined).join(' ')
  const body = indentJson(text)
  let section = `\n### ${seq} ${arrow(record.direction)} ${inLine(name)}\n\n${markdownJson(body)}\n`
  if (record.original !== undefined)
    section += `\nBefore the change:\n\n${markdownJson(indentJson(record.original))}\n`
  return section
}

function arrow(direction: Direction): string {
  return direction === 'client_to_server' ? '→' : '←'
}

function inLine(text: string): string {
  return markdownText(short(text), 'line')
}

function inCell(text: string): string {
  return markdownText(short(text), 'cell')
}

function short(text: string): string {
  return text.length > longestName ? `${text.slice(0, longestName)}…` : text
}
