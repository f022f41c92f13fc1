import { WiretapeError, type Fold } from '../../model/index.js'
import { createStyle } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { maxOf } from '../extremes.js'
import { faultsOf, type Fault } from '../inspect/faults.js'
import { createFieldPrinter, parseFields, type FieldFormat } from '../inspect/fields.js'
import { recordingJson, rowJson } from '../inspect/json.js'
import { layoutOf, listHeader, listRow } from '../inspect/list.js'
import { mergedRows, withAnswer } from '../inspect/rows.js'
import type { InspectRow } from '../inspect/inspect-row.js'
import type { Sieve, SieveMaker } from '../inspect/sieve.js'
import { checkReport, matchSummary, recordingSummary, sessionHeader, type Page } from '../inspect/summary.js'
import type { FoundRows } from '../found-rows.js'
import type { Io } from '../io.js'
import { recordingPaths } from '../recording-name.js'
import { loadRecordings, recordWatcher, type LoadedRecording, type Watcher } from '../recordings.js'

export interface InspectOptions {
  readonly verbose?: boolean
  readonly json?: boolean
  readonly jsonl?: boolean
  readonly check?: boolean
  readonly filter?: string
  readonly fields?: string
  readonly format?: FieldFormat
  readonly raw?: number
  /** @default only if they are shown and cheap */
  readonly findings?: boolean
}

/** The filter of shown rows, and the findings for them. */
interface Shown {
  readonly sieve: Sieve | undefined
  readonly found: FoundRows | undefined
}

/** A recording and its faults. */
interface Checked {
  readonly recording: LoadedRecording
  readonly faults: readonly Fault[]
}

export async function runInspect(named: readonly string[], options: InspectOptions, io: Io): Promise<number> {
  refuseTogether(options)
  const wantsFields = options.fields !== undefined || options.format !== undefined
  const fields = wantsFields ? parseFields(options.fields) : undefined
  const maker = options.filter === undefined ? undefined : await prepareSieve(options.filter)
  const files = await recordingPaths(named, io)
  const wantsFound = options.findings ?? (maker ? maker.found !== undefined : isPlainList(options))
  const found = wantsFound ? (maker?.found ?? (await createFoundRows())) : undefined
  const loaded = await loadRecordings(files, io.cwd, watching(maker, found))
  try {
    const sieve = maker?.make(loaded.recordings.map(({ fold }) => fold))
    const checked = loaded.recordings.map((recording) => ({ recording, faults: faultsOf(recording) }))
    const shown = { sieve, found }
    const page = { style: createStyle(io.colours), columns: io.columns }
    if (options.raw !== undefined) await printRaw(loaded.recordings, options.raw, io)
    else if (fields) await printFields(loaded.recordings, { fields, format: options.format }, sieve, page, io)
    else if (options.jsonl) await printLines(loaded.recordings, options, shown, io)
    else if (options.json) await printJson(checked, options, shown, io)
    else if (options.check) await printCheck(checked, page, io)
    else await printList(checked, options, shown, page, io)
    const faulty = checked.some(({ faults }) => faults.length > 0)
    return options.check && faulty ? exitCode.found : exitCode.done
  } finally {
    await loaded.close()
  }
}

function isPlainList({ fields, format, raw, check, json, jsonl }: InspectOptions): boolean {
  return [fields, format, raw].every((option) => option === undefined) && !check && !json && !jsonl
}

function watching(
  maker: SieveMaker | undefined,
  found: FoundRows | undefined,
): ((fold: Fold) => Watcher) | undefined {
  if (!maker || !found || maker.found === found) return maker?.watch ?? found?.watch
  return (fold) => {
    const watchers = [maker.watch(fold), found.watch(fold)].map(recordWatcher)
    return (record, rows) => watchers.forEach((watch) => watch(record, rows))
  }
}

/** Mutually exclusive options. */
const ways = ['json', 'jsonl', 'check', 'fields', 'raw'] as const

function refuseTogether(options: InspectOptions): void {
  if (options.filter !== undefined && options.check)
    throw new WiretapeError('usage', '--check needs whole recordings', { hint: 'leave out --filter' })
  const given = ways.filter((way) => options[way] !== undefined)
  // `--check --json` prints the report of --json, with the exit status of --check.
  if (given.length === 2 && given.includes('check') && given.some((way) => way.startsWith('json'))) return
  if (options.format !== undefined && options.fields === undefined && given.length > 0) given.push('fields')
  if (given.length < 2) return
  const [one, other] = given
  const name = other === 'fields' && options.fields === undefined ? 'format' : other
  throw new WiretapeError('usage', `--${one} and --${name} cannot be combined`, {
    hint: 'use one of them',
  })
}

/** Rows that determine the column widths of a table. */
const exampleRows = 500

async function printFields(
  recordings: readonly LoadedRecording[],
  {
    fields,
    format = 'table',
  }: { readonly fields: ReturnType<typeof parseFields>; readonly format: FieldFormat | undefined },
  sieve: Sieve | undefined,
  page: Page,
  io: Io,
): Promise<void> {
  const examples: InspectRow[] = []
  let printer: ReturnType<typeof createFieldPrinter> | undefined
  const kind = format === 'table' ? 'text' : 'data'
  const begin = async (): Promise<boolean> => {
    printer = createFieldPrinter(fields, format, examples, page)
    let goes = await io.write(printer.head, kind)
    for (const row of examples.splice(0)) goes &&= await io.write(printer.line(row), kind)
    return goes
  }
  for await (const row of mergedRows(recordings, sieve)) {
    if (row.kind === 'stderr' && !sieve?.asksForStderr) continue
    if (printer) {
      if (!(await io.write(printer.line(row), kind))) return
      continue
    }
    examples.push(row)
    if (format === 'table' && examples.length < exampleRows) continue
    if (!(await begin())) return
  }
  if (!printer) await begin()
}

/** The bytes of one message as on the wire, except for redacted values. */
async function printRaw(recordings: readonly LoadedRecording[], seq: number, io: Io): Promise<void> {
  if (recordings.length > 1)
    throw new WiretapeError('usage', '--raw takes one recording', {
      hint: 'each recording has its own numbers',
    })
  for await (const { seq: found, record, raw } of mergedRows(recordings)) {
    if (found !== seq || raw === '') continue
    const isWhole = record.type === 'message' && record.parts.length === 1 && record.bytes !== undefined
    await io.writeBytes(Buffer.from(isWhole ? record.bytes : raw, isWhole ? 'base64' : 'utf8'))
    return
  }
  const last = maxOf(
    recordings.map(({ fold }) => fold.counts().messages - 1),
    -1,
  )
  const hint = last < 0 ? 'the recording has no messages' : 'inspect shows the numbers'
  throw new WiretapeError('usage', `no message ${seq}`, { hint })
}

async function printList(
  checked: readonly Checked[],
  options: InspectOptions,
  { sieve, found }: Shown,
  page: Page,
  io: Io,
): Promise<void> {
  const recordings = checked.map(({ recording }) => recording)
  for (const { fold } of recordings) {
    for (const session of fold.sessions) await io.write(`${sessionHeader(session, page)}\n`)
  }
  const layout = layoutOf(recordings, { ...page, verbose: options.verbose === true })
  await io.write(`${listHeader(layout)}\n`)
  const all = sieve !== undefined || options.findings === true
  const showsStderr = options.verbose || sieve?.asksForStderr
  let shown = 0
  for await (const row of mergedRows(recordings, sieve)) {
    if (row.kind === 'stderr' && !showsStderr) continue
    shown += 1
    if (!(await io.write(`${listRow(marked(sieve ? withAnswer(row) : row, found, all), layout)}\n`))) return
  }
  if (sieve) {
    const rows = recordings.reduce((sum, { fold }) => sum + fold.entries.length, 0)
    await io.write(`\n${matchSummary(shown, rows, sieve.words, page)}`)
    return
  }
  for (const { recording, faults } of checked) {
    const label = recordings.length > 1 ? (recording.fold.sessions[0]?.label ?? '') : undefined
    await io.write(`\n${recordingSummary(recording, faults, label, page, found?.of(recording.fold))}`)
  }
}

async function printCheck(checked: readonly Checked[], page: Page, io: Io): Promise<void> {
  for (const { recording, faults } of checked) await io.write(checkReport(recording, faults, page))
}

/** Each message as a line: see docs/schemas/inspect.schema.json. */
async function printLines(
  recordings: readonly LoadedRecording[],
  options: InspectOptions,
  { sieve, found }: Shown,
  io: Io,
): Promise<void> {
  for await (const row of mergedRows(recordings, sieve)) {
    const text = rowJson(marked(row, found), recordings, options.verbose === true)
    if (!(await io.write(`{"version":1,${text.slice(1)}\n`, 'data'))) return
  }
}

async function printJson(
  checked: readonly Checked[],
  options: InspectOptions,
  { sieve, found }: Shown,
  io: Io,
): Promise<void> {
  const heads = checked.map(({ recording, faults }) => recordingJson(recording, faults))
  const recordings = checked.map(({ recording }) => recording)
  let separator = ''
  const filter = sieve ? `"filter":${JSON.stringify(options.filter)},\n` : ''
  if (!(await io.write(`{"version":1,"recordings":[${heads.join(',\n')}],\n${filter}"messages":[`, 'data')))
    return
  for await (const row of mergedRows(recordings, sieve)) {
    const text = rowJson(marked(row, found), recordings, options.verbose === true)
    if (!(await io.write(`${separator}\n${text}`, 'data'))) return
    separator = ','
  }
  await io.write('\n]}\n', 'data')
}

/** @param all also notes, which even well-behaved servers have */
function marked(row: InspectRow, found: FoundRows | undefined, all = true): InspectRow {
  const findings = found?.of(row.recording.fold).at(row.row)
  if (!findings || findings.length === 0) return findings ? { ...row, findings } : row
  return { ...row, findings: all ? findings : findings.filter(({ level }) => level !== 'note') }
}

/** Loads the rules only if needed. */
async function createFoundRows(): Promise<FoundRows> {
  const made = await import('../found-rows.js')
  return made.createFoundRows()
}

/** Loads the filter language only if needed. */
async function prepareSieve(filter: string): Promise<SieveMaker> {
  const sieve = await import('../inspect/sieve.js')
  return sieve.prepareSieve(filter)
}
