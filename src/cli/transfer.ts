import { extname, resolve } from 'node:path'
import {
  attended,
  formats,
  htmlReport,
  parquet,
  mapped,
  mergeRecordings,
  severalServersCode,
  type Format,
  type Recording,
} from '../formats/index.js'
import { WiretapeError, type TapeRecord } from '../model/index.js'
import { replaceFile } from '../tape/index.js'
import { createComplaints } from './complaints.js'
import type { Io } from './io.js'
import { createSegmentWatch, missingSegments } from './missing-segments.js'
import { openRecordings, type Opened, type OpenRecording, type Problem } from './recordings.js'

/** The part of a recording that `transfer` uses. */
type Recorded = Pick<OpenRecording, 'records' | 'ends'>

type Writable = Format & Required<Pick<Format, 'write'>>

/** The formats of the pure code, and the one that needs a file of ours. */
const knownFormats: readonly Format[] = [
  ...formats,
  parquet,
  htmlReport(async () => (await import('./report-page.js')).loadReportPage()),
]

/** The only recording in the files. */
export async function openOne(
  names: readonly string[],
  io: Io,
  formatId?: string,
): Promise<Opened<OpenRecording> & { readonly recording: OpenRecording }> {
  if (formatId !== undefined) checkFormat(formatId, '--from', 'read')
  const opened = await openRecordings(names, io.cwd, formatId)
  const [recording, ...others] = opened.recordings
  if (recording && others.length === 0) return { ...opened, recording }
  await opened.close()
  throw new WiretapeError('usage', `${names.join(' and ')} are different recordings`, {
    hint: 'convert one at a time; only segments of one recording can be combined',
  })
}

/** Opens files as one recording, or several merged by time. */
export async function openMerged(
  names: readonly string[],
  io: Io,
  formatId?: string,
): Promise<Pick<Opened<OpenRecording>, 'close'> & { readonly recording: Recorded }> {
  if (formatId !== undefined) checkFormat(formatId, '--from', 'read')
  const { recordings: opened, close } = await openRecordings(names, io.cwd, formatId)
  const recordings = opened.map(tellingWhatIsMissing)
  const [only, ...others] = recordings
  if (only && others.length === 0) return { recording: only, close }
  try {
    // The first pass over the files, by a writer, reports their problems.
    let tell: ((problem: Problem) => void) | undefined
    const merged = await mergeRecordings(
      recordings.map((recording) => ({ records: () => recording.records((problem) => tell?.(problem)) })),
    )
    const records: Recorded['records'] = (report) => {
      tell = report
      return merged.records()
    }
    return { recording: { records }, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Reports missing segments after the whole recording was read. */
function tellingWhatIsMissing(recording: OpenRecording): OpenRecording {
  const { name } = recording.files[0]!
  return {
    ...recording,
    records(report, only, lent) {
      const records = recording.records(report, only, lent)
      if (!report || only) return records
      const watch = createSegmentWatch()
      const watched = mapped(records, (record) => {
        watch.see(record)
        return record
      })
      const ended = (): void => {
        for (const { message } of watch.recordings.flatMap((one) => missingSegments(one, name)))
          report({ severity: 'warning', code: 'missing-segment', message, file: name })
      }
      return attended(watched, { ended, failed: (error) => error })
    },
  }
}

/**
 * The format to write.
 *
 * @param id the user's value of `option`
 * @throws WiretapeError `usage`, listing the formats
 */
export function targetFormat(id: string | undefined, option: string, output: string): Writable {
  if (id !== undefined) return checkFormat(id, option, 'write') as Writable
  const extension = extname(output).toLowerCase()
  const format = knownFormats.find((known) => known.write && known.extension === extension)
  if (format) return format as Writable
  const message =
    output === '-'
      ? 'stdout has no name to choose a format from'
      : `the name ${output} does not imply a format`
  throw new WiretapeError('usage', message, {
    hint: `choose one with ${option} ${idsOf('write', option).join('|')}`,
  })
}

function checkFormat(id: string, option: string, can: 'read' | 'write'): Format {
  const format = knownFormats.find((known) => known.id === id && known[can])
  if (format) return format
  const ids = idsOf(can, option)
  const meant = ids.find((known) => known === id.toLowerCase())
  throw new WiretapeError('usage', `${option} ${id}: unknown format`, {
    hint: meant === undefined ? `use one of ${ids.join(', ')}` : `did you mean ${meant}?`,
  })
}

/** Readable or writable formats. @param option of `proxy export`, where `json` also means session files */
function idsOf(can: 'read' | 'write', option: string): string[] {
  const ids = knownFormats.filter((format) => format[can]).map(({ id }) => id)
  return option === '--output-format' ? ['json', ...ids] : ids
}

export interface Transferred {
  readonly messages: number
  /** Kinds of data that the target cannot hold. */
  readonly losses: number
}

/** Diagnostic codes without loss: data kept in another place, or data that other readers do not expect. */
const lossless: ReadonlySet<string> = new Set(['kept-in-metadata', severalServersCode])

/** Diagnostic code for messages that the target format cannot hold. */
const leftOutCode = 'left-out'

/**
 * Writes a recording to a file, or to stdout for `-`, and reports its problems.
 *
 * @param edit changes records on their way
 * @returns number of messages written, and of losses in the target format
 */
export async function transfer(
  recording: Recorded,
  target: { readonly output: string; readonly format: Writable; readonly backup?: boolean },
  io: Io,
  edit?: (recording: Recording) => Recording,
): Promise<Transferred> {
  const complaints = createComplaints()
  let messages = 0
  let losses = 0
  let told = 0
  const read: Recording = {
    records(lent) {
      let found = 0
      // Passes find the same problems in order: report only those beyond earlier passes.
      return recording.records(
        (problem) => {
          found += 1
          if (found <= told) return
          told = found
          complaints.input(problem)
        },
        undefined,
        lent,
      )
    },
  }
  const edited = edit ? edit(read) : { ...read, ...(recording.ends && { ends: () => recording.ends!() }) }
  const counted: Recording = {
    ...edited,
    takesInTurn: true,
    records(lent) {
      let seen = 0
      return mapped(edited.records(lent), (record) => {
        seen += messagesIn(record)
        // Each pass counts from 0 and may end early.
        if (seen > messages) messages = seen
        return record
      })
    },
  }
  const { output, format, backup = false } = target
  let leftOut = 0
  const chunks = format.write(counted, (diagnostic) => {
    if (diagnostic.code === leftOutCode) leftOut += 1
    if (!lossless.has(diagnostic.code)) losses += 1
    complaints.output(output === '-' ? 'stdout' : output, diagnostic)
  })
  if (output === '-') await printBytes(chunks, io)
  else await replaceFile(resolve(io.cwd, output), chunks, { backup })
  await complaints.tell(io)
  return { messages: Math.max(0, messages - leftOut), losses }
}

function messagesIn(record: TapeRecord): number {
  if (record.type !== 'message') return 0
  return record.batch ? record.parts.length : 1
}

/** Writes bytes to stdout. */
export async function printBytes(chunks: AsyncIterable<Uint8Array>, io: Io): Promise<void> {
  const utf8 = new TextDecoder()
  for await (const chunk of chunks) {
    const text = utf8.decode(chunk, { stream: true })
    if (!(await io.write(text, 'data'))) return
  }
}
