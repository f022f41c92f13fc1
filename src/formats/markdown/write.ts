import { joinCommandLine, noTime, type Direction, type MetaRecord, type Report } from '../../model/index.js'
import {
  countOf,
  escapeText,
  formatBytes,
  formatDuration,
  formatOffset,
  indentJson,
} from '../../render/index.js'
import type { Recording } from '../format.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { metaOf, tellRecords, type Told, type ToldMessage } from '../told/told.js'

/** Characters of a name or error in a line. */
const longestName = 200

/** What the recording is, a table of its messages, and each of them with its payload. */
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
    if (told.record.http?.headers) losses.add('headers of HTTP are left out')
    losses.add('ids, links and exact layout of messages are left out')
  } else if (!['meta', 'end', 'noise', 'stderr', 'gap', 'http'].includes(told.record.type))
    losses.record(told.record)
}

function headText(meta: MetaRecord | undefined): string {
  const label = meta?.label ?? ''
  const lines = [`# ${label === '' ? 'MCP session' : inline(label)}`, '']
  if (meta) {
    if (meta.startedAt !== noTime) lines.push(`- started ${inline(meta.startedAt)}`)
    if (meta.command.length > 0) lines.push(`- server ${code(joinCommandLine(meta.command))}`)
    const { url, transport, redaction } = meta.wiretape ?? {}
    if (url) lines.push(`- server ${code(url)}`)
    if (transport) lines.push(`- transport ${inline(transport)}`)
    if (redaction) lines.push(`- redaction ${inline(redaction)}`)
  }
  return `${lines.join('\n')}\n\n`
}

/** What stands for times that the recording does not say. */
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
    return `| | ${time(us)} | ${arrow(record.direction)} | not JSON: ${inline(record.text)} | | |\n`
  if (record.type === 'gap')
    return `| | ${time(us)} | ▒ | ${record.lost} messages are not recorded: ${inline(record.why)} | | |\n`
  if (record.type === 'stderr') return `| | ${time(us)} | │ | stderr: ${inline(record.text)} | | |\n`
  if (record.type !== 'http') return undefined
  const status = record.status ?? 'no answer'
  return `| | ${time(us)} | ← | HTTP ${status} of ${inline(`${record.method} ${record.path}`)} | | |\n`
}

function whatOf({ part, request }: ToldMessage): string {
  const { envelope } = part
  const about = envelope.method === undefined ? request?.envelope : envelope
  const name = [about?.method, about?.subject]
    .filter((word) => word !== undefined)
    .map((word) => inline(word))
    .join(' ')
  if (envelope.method !== undefined) return name
  const of = request ? ` of #${request.seq} ${name}` : ''
  if (envelope.kind === 'error') {
    return `**error**${of}: ${inline(`${envelope.errorCode ?? ''} ${envelope.errorMessage ?? ''}`.trim())}`
  }
  if (envelope.kind === 'invalid') return `not JSON-RPC: ${inline(envelope.problem ?? '')}`
  return `${envelope.toolError ? '**tool error**' : 'result'}${of}`
}

function sectionOf(told: Told): string | undefined {
  if (told.kind !== 'message') return undefined
  const { record, seq, text } = told
  const { method, subject } = told.part.envelope
  const name = [method ?? told.part.envelope.kind, subject].filter((word) => word !== undefined).join(' ')
  const body = indentJson(text)
  let section = `\n### ${seq} ${arrow(record.direction)} ${inline(name)}\n\n${fenced(body, 'json')}\n`
  if (record.original !== undefined)
    section += `\nBefore it was changed:\n\n${fenced(indentJson(record.original), 'json')}\n`
  return section
}

function arrow(direction: Direction): string {
  return direction === 'client_to_server' ? '→' : '←'
}

/** Text of peers on one line, none of which is Markdown or HTML. */
function inline(text: string): string {
  const short = text.length > longestName ? `${text.slice(0, longestName)}…` : text
  return escapeText(short).replaceAll(/[\\`*_{}[\]()<>#|~!&]/g, String.raw`\$&`)
}

function code(text: string): string {
  const shown = escapeText(text)
  const ticks = '`'.repeat(longestRun(shown) + 1)
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return `${ticks}${pad}${shown}${pad}${ticks}`
}

function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}${language}\n${text}\n${fence}`
}

/** The most backticks in a row. */
function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
