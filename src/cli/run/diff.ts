import {
  collectReport,
  RecordingComparison,
  createRecordingIndex,
  reportKinds,
  type ComparedRecording,
} from '../../compare/index.js'
import { WiretapeError, type Diagnostic } from '../../model/index.js'
import { createStyle, escapeText } from '../../render/index.js'
import { createWithoutSecrets } from '../../replay/index.js'
import { OpenRecords } from '../../tape/index.js'
import type { CompareOptions } from '../compare/compare-options.js'
import {
  createSuggestions,
  createVariedLines,
  exchangeLines,
  latencyLines,
  noteLines,
  offerLines,
  summaryLine,
  type Layout,
} from '../compare/print.js'
import { readFiles, settingsOf } from '../compare/settings.js'
import { createComplaints, type Complaints } from '../complaints.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { createCounter } from '../progress.js'
import { printPieces, wantedReports, writeReports } from '../report-files.js'
import { watchedFiles } from '../recordings.js'
import { recordingPath } from '../recording-name.js'
import { openOne } from '../transfer.js'
import { withSegments } from '../with-segments.js'

export interface DiffOptions extends CompareOptions {
  readonly all?: boolean
}

export async function runDiff(first: string, second: string, options: DiffOptions, io: Io): Promise<number> {
  const before = await recordingPath(first, io)
  const after = await recordingPath(second, io)
  if (before === '-' && after === '-')
    throw new WiretapeError('usage', 'only one recording can be stdin', { hint: 'name a file for the other' })
  const settings = await settingsOf(options, before, io)
  const wanted = await wantedReports(
    options.report,
    reportKinds,
    readFiles(options, await withSegments([before, after], io.cwd)),
    io,
  )
  const complaints = createComplaints()
  const a = await openCompared(before, complaints, io)
  try {
    const b = await openCompared(after, complaints, io)
    try {
      const comparison = new RecordingComparison(a.recording, b.recording, settings)
      const names = createWithoutSecrets(undefined)({ before, after })
      const report = options.json === true || wanted.length > 0 ? collectReport(names) : undefined
      const layout: Layout = { style: createStyle(io.colours), columns: io.columns }
      const suggestions = createSuggestions()
      const varied = createVariedLines(layout)
      const print = options.json !== true
      const count = createCounter(a.recording.index.requests.length, 'requests')
      let compared = 0
      for await (const exchange of comparison.exchanges) {
        count((compared += 1), 'compared')
        report?.take(exchange)
        suggestions.take(exchange)
        varied.take(exchange)
        if (print && (options.all === true || exchange.verdict !== 'same')) {
          if (!(await io.write(exchangeLines(exchange, layout)))) break
        }
      }
      const summary = comparison.summary()
      const collected = report?.finish(summary)
      if (print) {
        const tail = `${offerLines(summary, layout)}${latencyLines(summary, layout)}${varied.lines(summary)}${suggestions.lines()}`
        await io.write(
          `${tail}${tail === '' ? '' : '\n'}${noteLines(summary)}${summaryLine(summary, layout)}`,
        )
      } else if (collected) await printPieces(reportKinds['json']!(collected), io)
      if (collected) await writeReports(wanted, collected, io)
      await complaints.tell(io)
      return summary.same ? exitCode.done : exitCode.found
    } finally {
      await b.close()
    }
  } finally {
    await a.close()
  }
}

async function openCompared(
  name: string,
  complaints: Complaints,
  io: Io,
): Promise<{ recording: ComparedRecording; close: () => Promise<void> }> {
  const { recording, close } = await openOne([name], io)
  const records = new OpenRecords(watchedFiles(recording))
  const closeAll = async (): Promise<void> => {
    await records.close()
    await close()
  }
  try {
    const indexer = createRecordingIndex()
    const report = (diagnostic: Diagnostic): void => complaints.input({ ...diagnostic, file: name })
    for await (const { record, locator } of records.records(report)) indexer.take(record, locator)
    const index = indexer.finish()
    if (index.requests.length === 0) {
      throw new WiretapeError('not-a-recording', `${escapeText(name)} has no requests`, {
        hint: 'nothing to compare',
      })
    }
    return {
      close: closeAll,
      recording: {
        index,
        async read(locator) {
          const record = await records.read(locator)
          if (record.type === 'message') return record
          throw new WiretapeError('unreadable', `${name} changed while wiretape read it`)
        },
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
