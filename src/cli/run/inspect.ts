import { WiretapeError } from '../../model/index.js'
import { createStyle } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { faultsOf, type Fault } from '../inspect/faults.js'
import { recordingJson, rowJson } from '../inspect/json.js'
import { layoutOf, listHeader, listRow } from '../inspect/list.js'
import { mergedRows, withAnswer } from '../inspect/rows.js'
import type { Sieve, SieveMaker } from '../inspect/sieve.js'
import { checkReport, matchSummary, recordingSummary, sessionHeader, type Page } from '../inspect/summary.js'
import type { Io } from '../io.js'
import { recordingPaths } from '../recording-name.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'

export interface InspectOptions {
  readonly verbose?: boolean
  readonly json?: boolean
  readonly check?: boolean
  readonly filter?: string
}

/** A recording and what is wrong with it. */
interface Checked {
  readonly recording: LoadedRecording
  readonly faults: readonly Fault[]
}

export async function runInspect(named: readonly string[], options: InspectOptions, io: Io): Promise<number> {
  const files = await recordingPaths(named, io)
  if (options.filter !== undefined && options.check)
    throw new WiretapeError('usage', '--check looks at whole recordings', { hint: 'leave out --filter' })
  const maker = options.filter === undefined ? undefined : await prepareSieve(options.filter)
  const loaded = await loadRecordings(files, io.cwd, maker?.watch)
  try {
    const sieve = maker?.make(loaded.recordings.map(({ fold }) => fold))
    const checked = loaded.recordings.map((recording) => ({ recording, faults: faultsOf(recording) }))
    const page = { style: createStyle(io.colours), columns: io.columns }
    if (options.json) await printJson(checked, options, sieve, io)
    else if (options.check) await printCheck(checked, page, io)
    else await printList(checked, options, sieve, page, io)
    const faulty = checked.some(({ faults }) => faults.length > 0)
    return options.check && faulty ? exitCode.found : exitCode.done
  } finally {
    await loaded.close()
  }
}

async function printList(
  checked: readonly Checked[],
  options: InspectOptions,
  sieve: Sieve | undefined,
  page: Page,
  io: Io,
): Promise<void> {
  const recordings = checked.map(({ recording }) => recording)
  for (const { fold } of recordings) {
    for (const session of fold.sessions) await io.write(`${sessionHeader(session, page)}\n`)
  }
  const layout = layoutOf(recordings, { ...page, verbose: options.verbose === true })
  await io.write(`${listHeader(layout)}\n`)
  const showsStderr = options.verbose || sieve?.asksForStderr
  let shown = 0
  for await (const row of mergedRows(recordings, sieve)) {
    if (row.kind === 'stderr' && !showsStderr) continue
    shown += 1
    if (!(await io.write(`${listRow(sieve ? withAnswer(row) : row, layout)}\n`))) return
  }
  if (sieve) {
    const rows = recordings.reduce((sum, { fold }) => sum + fold.entries.length, 0)
    await io.write(`\n${matchSummary(shown, rows, sieve.words, page)}`)
    return
  }
  for (const { recording, faults } of checked) {
    const label = recordings.length > 1 ? (recording.fold.sessions[0]?.label ?? '') : undefined
    await io.write(`\n${recordingSummary(recording, faults, label, page)}`)
  }
}

async function printCheck(checked: readonly Checked[], page: Page, io: Io): Promise<void> {
  for (const { recording, faults } of checked) await io.write(checkReport(recording, faults, page))
}

async function printJson(
  checked: readonly Checked[],
  options: InspectOptions,
  sieve: Sieve | undefined,
  io: Io,
): Promise<void> {
  const heads = checked.map(({ recording, faults }) => recordingJson(recording, faults))
  const recordings = checked.map(({ recording }) => recording)
  let separator = ''
  const filter = sieve ? `"filter":${JSON.stringify(options.filter)},\n` : ''
  if (!(await io.write(`{"recordings":[${heads.join(',\n')}],\n${filter}"messages":[`, 'data'))) return
  for await (const row of mergedRows(recordings, sieve)) {
    const text = rowJson(row, recordings, options.verbose === true)
    if (!(await io.write(`${separator}\n${text}`, 'data'))) return
    separator = ','
  }
  await io.write('\n]}\n', 'data')
}

/** The language is loaded by those who have a filter. */
async function prepareSieve(filter: string): Promise<SieveMaker> {
  const sieve = await import('../inspect/sieve.js')
  return sieve.prepareSieve(filter)
}
