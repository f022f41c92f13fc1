import type { Session } from '../../model/index.js'
import {
  countOf,
  escapeText,
  formatCount,
  formatDuration,
  formatOffset,
  widthOf,
} from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { faultsOf, type Fault } from '../inspect/faults.js'
import { recordingJson, rowJson } from '../inspect/json.js'
import { listHeader, listRow, type ListLayout } from '../inspect/list.js'
import { mergedRows } from '../inspect/rows.js'
import type { Io } from '../io.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'

export interface InspectOptions {
  readonly verbose?: boolean
  readonly json?: boolean
  readonly check?: boolean
}

export async function runInspect(files: readonly string[], options: InspectOptions, io: Io): Promise<number> {
  const loaded = await loadRecordings(files, io.cwd)
  try {
    const { recordings } = loaded
    const faults = recordings.map((recording) => faultsOf(recording))
    const faulty = faults.some((list) => list.length > 0)
    if (options.json) await printJson(recordings, faults, options, io)
    else if (options.check) await printCheck(recordings, faults, io)
    else await printList(recordings, faults, options, io)
    return options.check && faulty ? exitCode.found : exitCode.done
  } finally {
    await loaded.close()
  }
}

async function printList(
  recordings: readonly LoadedRecording[],
  faults: readonly (readonly Fault[])[],
  options: InspectOptions,
  io: Io,
): Promise<void> {
  for (const recording of recordings) {
    for (const session of recording.fold.sessions) await io.write(header(session, io))
  }
  const layout = layoutOf(recordings, options, io)
  await io.write(`\n${listHeader(layout)}\n`)
  for await (const row of mergedRows(recordings)) {
    if (row.kind === 'stderr' && !options.verbose) continue
    if (!(await io.write(`${listRow(row, layout)}\n`))) return
  }
  await io.write('\n')
  for (const [i, recording] of recordings.entries())
    await io.write(summary(recording, faults[i]!, recordings.length > 1, io))
}

function layoutOf(recordings: readonly LoadedRecording[], options: InspectOptions, io: Io): ListLayout {
  let seq = 1
  let us = 0
  for (const { fold } of recordings) {
    const last = fold.entries.length - 1
    for (let row = last; row >= 0; row -= 1) {
      if (fold.entries.seq(row) >= 0) {
        seq = Math.max(seq, fold.entries.seq(row))
        break
      }
    }
    if (last >= 0) us = Math.max(us, fold.entries.us(last))
  }
  const labels = recordings.map(({ fold }) => widthOf(escapeText(fold.sessions[0]?.label ?? '')))
  return {
    style: io.style,
    columns: io.columns,
    verbose: options.verbose === true,
    labelWidth: recordings.length > 1 ? Math.min(20, Math.max(6, ...labels)) : 0,
    seqWidth: Math.max(3, String(seq).length),
    timeWidth: Math.max(6, formatOffset(us).length),
  }
}

function header(session: Session, io: Io): string {
  const { style } = io
  const command = session.command
    .map((word) => (/[^\w@%+=:,./-]/.test(word) || word === '' ? JSON.stringify(word) : word))
    .join(' ')
  const facts = [`started ${session.startedAt.replace('T', ' ')}`]
  if (session.durationMs !== undefined) facts.push(`ran ${formatDuration(session.durationMs * 1000)}`)
  if (session.error !== undefined) facts.push(session.error)
  else if (session.signal !== undefined) facts.push(`ended by ${session.signal}`)
  else if (session.exitCode !== undefined && session.complete) facts.push(`exit ${session.exitCode}`)
  if (!session.complete) facts.push(session.continues ? 'goes on in the next file' : 'incomplete')
  const lines = [
    `${style.bold(escapeText(session.label))}  ${style.dim(escapeText(session.url ?? command))}`,
    escapeText(facts.join(' · ')),
  ]
  const peers: string[] = []
  if (session.client) peers.push(`client ${session.client.name} ${session.client.version}`.trim())
  if (session.server) peers.push(`server ${session.server.name} ${session.server.version}`.trim())
  if (session.protocolVersion !== undefined) peers.push(`MCP ${session.protocolVersion}`)
  if (peers.length > 0) lines.push(escapeText(peers.join(' · ')))
  for (const [name, text] of session.metadata) lines.push(escapeText(`${name}: ${plain(text)}`))
  return `${lines.join('\n')}\n`
}

/** A string without its quotes; anything else as its JSON. */
function plain(json: string): string {
  const value = JSON.parse(json) as unknown
  return typeof value === 'string' ? value : json
}

function summary(recording: LoadedRecording, faults: readonly Fault[], named: boolean, io: Io): string {
  const { style } = io
  const c = recording.fold.counts()
  const parts = [
    countOf(c.requests, 'request'),
    countOf(c.results, 'result'),
    countOf(c.errors, 'error'),
    countOf(c.notifications, 'notification'),
  ]
  if (c.invalid > 0) parts.push(`${formatCount(c.invalid)} not JSON-RPC`)
  if (c.toolErrors > 0) parts.push(countOf(c.toolErrors, 'tool error'))
  if (c.cancelled > 0) parts.push(`${formatCount(c.cancelled)} cancelled`)
  if (c.noise > 0) parts.push(countOf(c.noise, 'line of noise', 'lines of noise'))
  if (c.stderr > 0) parts.push(countOf(c.stderr, 'stderr line'))
  const label = named ? `${escapeText(recording.fold.sessions[0]?.label ?? '')}: ` : ''
  const lines = [`${label}${style.bold(countOf(c.messages, 'message'))}: ${parts.join(', ')}`]
  const latency = latencies(recording)
  if (latency) lines.push(style.dim(latency))
  for (const fault of faults) lines.push(`${style.yellow('!')} ${faultLine(fault)}`)
  return `${lines.join('\n')}\n`
}

function faultLine(fault: Fault): string {
  const { messages = [] } = fault
  const numbers = messages.map((seq) => `#${seq}`).join(' ')
  const more = fault.count > messages.length && messages.length > 0 ? ' …' : ''
  return `${escapeText(fault.message)}${numbers === '' ? '' : ` (${numbers}${more})`}`
}

/** p50, p95 and the slowest answer. Answers to the server's own requests count too. */
function latencies(recording: LoadedRecording): string | undefined {
  const { entries } = recording.fold
  const all: number[] = []
  for (let row = 0; row < entries.length; row += 1) {
    const kind = entries.kind(row)
    if ((kind === 'result' || kind === 'error') && entries.peer(row) >= 0)
      all.push(entries.us(row) - entries.us(entries.peer(row)))
  }
  if (all.length === 0) return undefined
  const sorted = Float64Array.from(all).toSorted()
  const at = (share: number): string =>
    formatDuration(Math.max(0, sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!))
  return `latency p50 ${at(0.5)}, p95 ${at(0.95)}, slowest ${at(1)}`
}

async function printCheck(
  recordings: readonly LoadedRecording[],
  faults: readonly (readonly Fault[])[],
  io: Io,
): Promise<void> {
  for (const [i, recording] of recordings.entries()) {
    const name = escapeText(recording.files.map(({ path }) => path).join(', '))
    const counted = countOf(recording.fold.counts().messages, 'message')
    if (faults[i]!.length === 0) {
      await io.write(`${io.style.green('✓')} ${name}: ${counted}, no fault found\n`)
      continue
    }
    await io.write(`${io.style.red('✗')} ${name}: ${counted}\n`)
    for (const fault of faults[i]!) await io.write(`  ${faultLine(fault)}\n`)
  }
}

async function printJson(
  recordings: readonly LoadedRecording[],
  faults: readonly (readonly Fault[])[],
  options: InspectOptions,
  io: Io,
): Promise<void> {
  const heads = recordings.map((recording, i) => recordingJson(recording, faults[i]!))
  let separator = ''
  if (!(await io.write(`{"recordings":${JSON.stringify(heads)},\n"messages":[`))) return
  for await (const row of mergedRows(recordings)) {
    if (!(await io.write(`${separator}\n${rowJson(row, recordings, options.verbose === true)}`))) return
    separator = ','
  }
  await io.write('\n]}\n')
}
