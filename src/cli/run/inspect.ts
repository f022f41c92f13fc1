import { createStyle } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { faultsOf, type Fault } from '../inspect/faults.js'
import { recordingJson, rowJson } from '../inspect/json.js'
import { layoutOf, listHeader, listRow } from '../inspect/list.js'
import { mergedRows } from '../inspect/rows.js'
import { checkReport, recordingSummary, sessionHeader, type Page } from '../inspect/summary.js'
import type { Io } from '../io.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'

export interface InspectOptions {
  readonly verbose?: boolean
  readonly json?: boolean
  readonly check?: boolean
}

/** A recording and what is wrong with it. */
interface Checked {
  readonly recording: LoadedRecording
  readonly faults: readonly Fault[]
}

export async function runInspect(files: readonly string[], options: InspectOptions, io: Io): Promise<number> {
  const loaded = await loadRecordings(files, io.cwd)
  try {
    const checked = loaded.recordings.map((recording) => ({ recording, faults: faultsOf(recording) }))
    const page = { style: createStyle(io.colours), columns: io.columns }
    if (options.json) await printJson(checked, options, io)
    else if (options.check) await printCheck(checked, page, io)
    else await printList(checked, options, page, io)
    const faulty = checked.some(({ faults }) => faults.length > 0)
    return options.check && faulty ? exitCode.found : exitCode.done
  } finally {
    await loaded.close()
  }
}

async function printList(
  checked: readonly Checked[],
  options: InspectOptions,
  page: Page,
  io: Io,
): Promise<void> {
  const recordings = checked.map(({ recording }) => recording)
  for (const { fold } of recordings) {
    for (const session of fold.sessions) await io.write(`${sessionHeader(session, page)}\n`)
  }
  const layout = layoutOf(recordings, { ...page, verbose: options.verbose === true })
  await io.write(`${listHeader(layout)}\n`)
  for await (const row of mergedRows(recordings)) {
    if (row.kind === 'stderr' && !options.verbose) continue
    if (!(await io.write(`${listRow(row, layout)}\n`))) return
  }
  for (const { recording, faults } of checked) {
    const label = recordings.length > 1 ? (recording.fold.sessions[0]?.label ?? '') : undefined
    await io.write(`\n${recordingSummary(recording, faults, label, page)}`)
  }
}

async function printCheck(checked: readonly Checked[], page: Page, io: Io): Promise<void> {
  for (const { recording, faults } of checked) await io.write(checkReport(recording, faults, page))
}

async function printJson(checked: readonly Checked[], options: InspectOptions, io: Io): Promise<void> {
  const heads = checked.map(({ recording, faults }) => recordingJson(recording, faults))
  const recordings = checked.map(({ recording }) => recording)
  const layout = { verbose: options.verbose === true, onTerminal: io.columns !== undefined }
  let separator = ''
  if (!(await io.write(`{"recordings":[${heads.join(',\n')}],\n"messages":[`))) return
  for await (const row of mergedRows(recordings)) {
    if (!(await io.write(`${separator}\n${rowJson(row, recordings, layout)}`))) return
    separator = ','
  }
  await io.write('\n]}\n')
}
