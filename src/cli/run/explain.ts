import {
  createCallCollector,
  createFindings,
  requestOf,
  rules,
  tellBriefly,
  tellCall,
  wrongCalls,
  type CallStory,
  type Finding,
  type RecordingFindings,
} from '../../findings/index.js'
import { isMessageKind, WiretapeError, type Fold, createRowWalk } from '../../model/index.js'
import { countOf, createStyle, escapeText, wrapPieces, type Style } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { notesJson } from '../notes.js'
import { recordingPath } from '../recording-name.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'

export interface ExplainOptions {
  readonly json?: boolean
}

/** A call with the findings in its messages. */
type Explained = CallStory & { readonly findings: readonly Finding[] }

/** Calls listed without a number; more are only counted. */
const mostCalls = 200

export async function runExplain(
  named: string,
  number: number | undefined,
  options: ExplainOptions,
  io: Io,
): Promise<number> {
  const engine = createFindings(rules)
  let findings: RecordingFindings | undefined
  const loaded = await loadRecordings([await recordingPath(named, io)], io.cwd, (fold) => {
    const run = (findings = engine.begin(fold))
    return (record, rows) => run.take(record, rows)
  })
  try {
    findings!.finish()
    const recording = loaded.recordings[0]!
    const { rows, left } =
      number === undefined
        ? wrongCalls(recording.fold, mostCalls)
        : { rows: new Set([rowOfCall(recording, number)]), left: 0 }
    const calls = await explained(recording, rows, findings!.found)
    if (options.json) await printJson(recording, calls, left, io)
    else if (number === undefined) await printCalls(named, recording, calls, left, io)
    else for (const call of calls) await io.write(storyText(call, io))
    return exitCode.done
  } finally {
    await loaded.close()
  }
}

/** The request of a message. */
function rowOfCall({ fold }: LoadedRecording, number: number): number {
  const { entries } = fold
  const row = rowNumbered(fold, number)
  if (row < 0) {
    const { messages } = fold.counts()
    throw new WiretapeError('usage', `no message ${number}`, {
      hint: messages === 0 ? 'the recording has no messages' : 'inspect shows the numbers',
    })
  }
  const request = requestOf(fold, row)
  if (request >= 0 && entries.kind(request) === 'request') return request
  const kind = entries.kind(row)
  const what =
    kind === 'notification'
      ? 'a notification without a request'
      : kind === 'invalid'
        ? 'not JSON-RPC'
        : 'a response without a request in this recording'
  throw new WiretapeError('usage', `message ${number} is ${what}`, {
    hint: 'give the number of a request or of its response',
  })
}

function rowNumbered({ entries }: Fold, number: number): number {
  for (let row = 0; row < entries.length; row += 1) {
    if (entries.seq(row) === number && isMessageKind(entries.kind(row))) return row
  }
  return -1
}

async function explained(
  recording: LoadedRecording,
  rows: ReadonlySet<number>,
  found: readonly Finding[],
): Promise<Explained[]> {
  if (rows.size === 0) return []
  const { fold } = recording
  const collector = createCallCollector(fold, rows)
  const walk = createRowWalk(fold.entries)
  for await (const record of recording.records()) collector.take(record, walk(record))
  const byRequest = new Map<number, Finding[]>()
  for (const finding of found) {
    const [first = -1] = finding.rows
    const request = first < 0 ? -1 : requestOf(fold, first)
    byRequest.set(request, [...(byRequest.get(request) ?? []), finding])
  }
  return collector.calls.map((call) => ({ ...tellCall(call), findings: byRequest.get(call.row) ?? [] }))
}

/** See docs/schemas/explain.schema.json. */
async function printJson(
  recording: LoadedRecording,
  calls: readonly Explained[],
  left: number,
  io: Io,
): Promise<void> {
  const { fold, files } = recording
  const told = {
    version: 1,
    files: files.map(({ name }) => name),
    complete: isWhole(recording),
    requests: requestsIn(fold),
    more: left,
    notes: notesJson(recording.notes),
    calls: calls.map(({ findings, ...call }) => ({
      ...call,
      summary: tellBriefly(call),
      findings: findings.map(({ rule, level, message }) => ({ rule: rule.id, level, message })),
    })),
  }
  await io.write(`${JSON.stringify(told)}\n`, 'data')
}

/** Includes requests that were not forwarded. */
function requestsIn({ entries }: Fold): number {
  let count = 0
  for (let row = 0; row < entries.length; row += 1) if (entries.kind(row) === 'request') count += 1
  return count
}

function isWhole({ fold }: LoadedRecording): boolean {
  return fold.counts().gaps === 0 && fold.sessions.every(({ complete }) => complete)
}

async function printCalls(
  named: string,
  recording: LoadedRecording,
  calls: readonly Explained[],
  left: number,
  io: Io,
): Promise<void> {
  const style = createStyle(io.colours)
  const requests = requestsIn(recording.fold)
  if (calls.length === 0) {
    const all =
      requests === 0
        ? 'The recording has no requests.'
        : `No problems: ${requests === 1 ? 'the request was answered' : `all ${countOf(requests, 'request')} were answered`}, and none was refused.`
    await io.write(`${all}\n`)
  }
  for (const call of calls) {
    const number = `#${call.message}`
    const text = spread(tellBriefly(call), io.columns, number.length + 2)
    await io.write(`${style.bold(number)}  ${text}\n`)
  }
  if (calls.length > 0) {
    const count = calls.length + left
    const more = left > 0 ? `; the first ${calls.length} are shown` : ''
    await io.write(
      `\n${count} of ${countOf(requests, 'request')} failed${more}. For details of one: wiretape explain ${shellWord(named)} N\n`,
    )
  }
  if (!isWhole(recording))
    await io.write(`${style.yellow('The recording is incomplete')}: missing messages cannot be explained.\n`)
}

function shellWord(name: string): string {
  const text = escapeText(name)
  return /^[\w./~@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function storyText(call: Explained, { colours, columns }: Io): string {
  const style = createStyle(colours)
  const name = call.subject === undefined ? call.method : `${call.method} ${call.subject}`
  const lines = [style.bold(`#${call.message} ${escapeText(name)}`)]
  for (const { text, messages } of call.sentences) {
    // Omit numbers that the sentence already contains.
    const shown = messages.filter((seq) => !text.includes(`#${seq}`)).map((seq) => `#${seq}`)
    lines.push(`  ${spread(`${text}${shown.length === 0 ? '' : ` (${shown.join(' ')})`}`, columns, 2)}`)
  }
  for (const { rule, level, message } of call.findings)
    lines.push(`  ${spread(`${level} ${rule.id}: ${escapeText(message)}`, columns, 2)}`)
  lines.push('', ...blameLines(call, columns, style))
  return `${lines.join('\n')}\n`
}

function blameLines(call: Explained, columns: number | undefined, style: Style): string[] {
  const lines = [
    `${style.bold('At fault:')} ${spread(`${blameWords[call.blame]}. ${call.because}`, columns, 2)}`,
  ]
  if (call.unproven.length > 0) lines.push(style.bold('The recording does not prove:'))
  for (const text of call.unproven) lines.push(`  ${spread(text, columns, 2)}`)
  return lines
}

const blameWords: Readonly<Record<CallStory['blame'], string>> = {
  nobody: 'nobody',
  server: 'the server',
  client: 'the client',
  network: 'the server or the network',
  rule: 'one of your rules',
  person: 'a person using wiretape',
  wiretape: 'wiretape',
  unknown: 'not proven',
}

function spread(text: string, columns: number | undefined, indent: number): string {
  const width = columns === undefined ? undefined : Math.max(20, columns - indent)
  return wrapPieces(text.split(' '), ' ', width).replaceAll('\n', `\n${' '.repeat(indent)}`)
}
