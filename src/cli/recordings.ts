import {
  attended,
  chained,
  flatMapped,
  inBatches,
  joinSegments,
  mapped,
  tapePlace,
  type PlainForm,
  type SegmentPlace,
  type RecordingEnds,
  type Seen,
} from '../formats/index.js'
import {
  asLegacySse,
  createFold,
  WiretapeError,
  type Diagnostic,
  type Fold,
  type TapeRecord,
  type Rows,
} from '../model/index.js'
import { moduleOfBuild } from '../proxy/index.js'
import { asParts, lentBytes, type RecordingFile } from '../tape/index.js'
import { containsText, createMessageMemory, idKey, messageMemory } from '../wire/index.js'
import { LineChunks, threadedBytes } from './line-chunks.js'
import { inFile, openNamed } from './named-file.js'
import { createNotes, type Notes } from './notes.js'
import { withProgress } from './progress.js'
import { isScannable, scanTape, type PlainWatcher, type Scanning } from './quick-load.js'
import { createSpools, plainFile, type Spools } from './spools.js'
import { withSegments } from './with-segments.js'

/** A recording in one file, or in the segments of one session. */
export interface OpenRecording {
  /** Its files, in the order of their segments. */
  readonly files: readonly NamedFile[]
  /**
   * The records; may be called repeatedly. Omits lines written after the files were opened.
   *
   * @param report gets the problems of the files
   * @param only selects records by their number; only after all were read once
   * @param lent see `Recording`
   * @throws WiretapeError with the user's name of the file
   */
  records(report?: (problem: Problem) => void, only?: Selection, lent?: PlainForm): AsyncIterable<TapeRecord>
  /** Like `records`, for consumers that parse each message. */
  values?(report: (problem: Problem) => void): AsyncIterable<TapeRecord>
  /** See `Recording`. */
  ends?(): Promise<RecordingEnds | undefined>
}

/** Selects records by number, from 0. */
export type Selection = (record: number) => boolean

/** A recording that can be loaded without a record for each line. */
interface ScannableRecording extends OpenRecording {
  /** Undefined if it is no tape. Returns the result of `scanTape`. */
  readonly scan?: (scanning: Omit<Scanning, 'isLegacySse'>) => Promise<number>
}

/** A loaded recording: the model without payloads, and access to the records. */
export interface LoadedRecording extends OpenRecording {
  readonly fold: Fold
  /** Problems of the files; of very many only the first. */
  readonly problems: readonly Problem[]
  readonly problemCount: number
  /** Notes on the recording. */
  readonly notes: Notes
  /** Characters of the longest JSON-RPC id. */
  readonly longestId: number
}

export interface NamedFile {
  readonly file: RecordingFile
  /** As the user named it. */
  readonly name: string
}

/** A problem and the user's name of its file. */
export type Problem = Diagnostic & { readonly file: string }

const problemsKept = 1_000

/** Of a common line, in bytes. */
const lineBytes = 384
/** Rows for which memory is reserved before they are read. */
const mostExpected = 2_000_000

/** Files whose content may be kept from opening to loading. */
const mostContents = 8

/** Recordings and the temporary files for reading them. */
export interface Opened<R> {
  readonly recordings: R[]
  readonly close: () => Promise<void>
}

/**
 * Opens files and joins segments of one session; one segment names all. `-` is stdin; input that cannot be read twice is
 * copied to a private temporary file.
 *
 * @param formatId detected from the content by default
 * @throws WiretapeError with the user's name of the file if it cannot be read or is no recording
 */
export async function openRecordings(
  names: readonly string[],
  cwd: string,
  formatId?: string,
): Promise<Opened<OpenRecording>> {
  return openScannable(names, cwd, { formatId })
}

async function openScannable(
  names: readonly string[],
  cwd: string,
  { formatId, areAll = false }: { readonly formatId?: string | undefined; readonly areAll?: boolean } = {},
): Promise<Opened<ScannableRecording>> {
  refuseUnusable(names)
  const spools = createSpools()
  const close = (): Promise<void> => spools.close()
  try {
    const opened: OpenedFile[] = []
    for (const name of areAll ? names : await withSegments(names, cwd))
      opened.push(await openArgument(name, cwd, spools, formatId))
    // Those of many files would take much memory.
    if (opened.length > mostContents) for (const file of opened) delete file.content
    const recordings = joinSegments(opened, (file) => file)
      .map(joined)
      .map((files) => ({
        files,
        records: (report?: (problem: Problem) => void, only?: Selection, lent?: PlainForm) =>
          recordsOf(files, { report, only, lent }),
        values: (report: (problem: Problem) => void) => recordsOf(files, { report, values: true }),
        ends: () => endsOf(files),
        ...(files.every(isScannable) && {
          scan: (scanning: Omit<Scanning, 'isLegacySse'>) => scanAll(files, scanning),
        }),
      }))
    return { recordings, close }
  } catch (error) {
    await close()
    throw error
  }
}

function refuseUnusable(names: readonly string[]): void {
  if (names.includes('')) throw new WiretapeError('usage', 'an input name is empty', { hint: '- is stdin' })
  if (names.indexOf('-') === names.lastIndexOf('-')) return
  throw new WiretapeError('usage', 'stdin is given twice', { hint: 'stdin can be read only once' })
}

/** Watches the records during loading, with their rows in the fold. */
export type Watcher = RecordWatcher | PlainWatcher

/** Needs a record for every line, which takes several times as long. */
export type RecordWatcher = (record: TapeRecord, rows: Rows) => void

/** Converts any watcher to a record watcher. */
export function recordWatcher(watcher: Watcher): RecordWatcher {
  return typeof watcher === 'function' ? watcher : (record, rows) => watcher.take(record, rows)
}

/**
 * Like `openRecordings`, and loads each one.
 *
 * @param watch creates a watcher for each
 * @param areAll the names include all segments, so that no others are searched for
 */
export async function loadRecordings(
  names: readonly string[],
  cwd: string,
  watch?: (fold: Fold) => Watcher,
  areAll = false,
): Promise<Opened<LoadedRecording>> {
  const { recordings, close } = await openScannable(names, cwd, { areAll })
  try {
    const loaded: LoadedRecording[] = []
    for (const recording of recordings) loaded.push(await load(recording, watch))
    return { recordings: loaded, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The files of a recording; reading them shows progress. */
export function watchedFiles({ files }: OpenRecording): RecordingFile[] {
  return files.map(({ file, name }) => ({
    ...file,
    bytes: (to, from = 0) => withProgress(name, file.bytes(to, from), (to ?? file.sizeBytes) - from),
  }))
}

interface OpenedFile extends NamedFile, SegmentPlace {
  /** It was read to its end without problems. */
  checked?: boolean
  readonly seen: Seen
  content?: Uint8Array | undefined
  /** The transport differs from the one in its first record. */
  readonly isLegacySse: boolean
  /** Number of records; known once it was read to its end. */
  count?: number
}

async function openArgument(
  argument: string,
  cwd: string,
  spools: Spools,
  formatId: string | undefined,
): Promise<OpenedFile> {
  const { name, path, fault, start } = await plainFile(argument, cwd, spools, formatId === undefined)
  const { file: found, first, seen, content } = await openNamed(path, name, formatId, start)
  const file = fault ? { ...found, fault } : found
  const identity = first?.type === 'meta' ? first.wiretape : undefined
  const isLegacySse = identity?.transport === 'sse'
  return { file, name, seen, isLegacySse, content, ...tapePlace(path, first) }
}

/** Joins files of one recording that do not identify themselves as such. */
function joined(files: readonly OpenedFile[]): readonly OpenedFile[] {
  if (files.length === 1 || !files[0]!.isGuessed) return files
  const parts = asParts(files.map(({ file }) => file))
  return files.map((opened, i) => ({ ...opened, file: parts[i]! }))
}

async function load(
  recording: ScannableRecording,
  watch: ((fold: Fold) => Watcher) | undefined,
): Promise<LoadedRecording> {
  const sizeBytes = recording.files.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  const fold = createFold(idKey, undefined, Math.min(Math.ceil(sizeBytes / lineBytes), mostExpected))
  const watcher = watch?.(fold)
  const notes = createNotes(fold)
  const problems: Problem[] = []
  let problemCount = 0
  let longestId = 0
  const report = (problem: Problem): void => {
    problemCount += 1
    if (problems.length < problemsKept) problems.push(problem)
  }
  const see = (record: TapeRecord): void => {
    notes.see(record)
    longestId = Math.max(longestId, longestIdOf(record))
  }
  if (recording.scan && typeof watcher !== 'function') {
    const longest = await recording.scan({ fold, watcher, report, see })
    return { ...recording, fold, problems, problemCount, notes, longestId: Math.max(longestId, longest) }
  }
  const takesLent = !watcher || (typeof watcher !== 'function' && watcher.takesLent === true)
  const lent = takesLent ? 'bytes' : undefined
  const read = typeof watcher === 'function' ? recording.values?.(report) : undefined
  for await (const records of inBatches(read ?? recording.records(report, undefined, lent))) {
    for (const record of records) {
      const rows = fold.push(record)
      if (typeof watcher === 'function') watcher(record, rows)
      else watcher?.take(record, rows)
      see(record)
    }
  }
  return { ...recording, fold, problems, problemCount, notes, longestId }
}

async function scanAll(
  group: readonly OpenedFile[],
  scanning: Omit<Scanning, 'isLegacySse'>,
): Promise<number> {
  let longestId = 0
  const { isLegacySse } = group[0]!
  for (const opened of group)
    longestId = Math.max(longestId, await scanTape(opened, { ...scanning, isLegacySse }))
  return longestId
}

interface Reading {
  readonly report?: ((problem: Problem) => void) | undefined
  readonly only?: Selection | undefined
  readonly values?: boolean
  readonly lent?: PlainForm | undefined
}

function recordsOf(group: readonly OpenedFile[], reading: Reading): AsyncIterable<TapeRecord> {
  const { only } = reading
  let first = 0
  const [{ isLegacySse } = { isLegacySse: false }] = group
  return chained(
    group.map((opened) => () => {
      const before = first
      first += opened.count ?? 0
      const records = recordsIn(opened, {
        ...reading,
        only: only && ((record) => only(before + record)),
      })
      return isLegacySse ? mapped(records, inLegacySse) : records
    }),
  )
}

async function endsOf(group: readonly OpenedFile[]): Promise<RecordingEnds | undefined> {
  const start = await fileEnds(group[0]!)
  const end = start && group.length > 1 ? await fileEnds(group.at(-1)!) : start
  if (!start || !end) return undefined
  const first = group[0]!.isLegacySse ? inLegacySse(start.first) : start.first
  return { ...start, first, last: end.last }
}

function inLegacySse(record: TapeRecord): TapeRecord {
  return record.type === 'meta' ? asLegacySse(record) : record
}

async function fileEnds({ file, name, seen }: OpenedFile): Promise<RecordingEnds | undefined> {
  const { format, sizeBytes, path } = file
  const bytes = (from: number, to: number): AsyncIterable<Uint8Array> =>
    withProgress(name, lentBytes(path, to, from), to - from)
  // For redaction too.
  if (sizeBytes >= threadedBytes && !messageMemory) createMessageMemory(moduleOfBuild())
  return format.readEnds?.({ sizeBytes, bytes, holds, seen })
}

function holds(bytes: Uint8Array, text: string): boolean {
  const { buffer, byteOffset, length } = bytes
  return containsText(bytes, text) ?? Buffer.from(buffer, byteOffset, length).includes(text, 0, 'latin1')
}

function recordsIn(
  opened: OpenedFile,
  { report, only, values = false, lent }: Reading,
): AsyncIterable<TapeRecord> {
  const { file, name, checked = false } = opened
  let problems = 0
  let count = 0
  const take = (diagnostic: Diagnostic): void => {
    problems += 1
    report?.({ ...diagnostic, file: name })
  }
  if (file.fault) take(file.fault)
  const { sizeBytes, path, format } = file
  const lends = lent && format.lends ? new LineChunks(format.lends, lent) : undefined
  const chunks = (): AsyncIterable<Uint8Array> => {
    if (lends) return lends.read(path, sizeBytes)
    return format.borrows ? lentBytes(path, sizeBytes) : file.bytes(sizeBytes)
  }
  const bytes = (): AsyncIterable<Uint8Array> => withProgress(name, chunks(), sizeBytes)
  const selects = only !== undefined && checked && file.format.selects === true
  const { seen } = opened
  const records = file.format.read(
    { bytes, checked, seen, values, ...(lends && { lends }), ...(selects && { only }) },
    take,
  )
  const failed = (error: unknown): unknown => inFile(error, name, file.path)
  if (selects) return attended(records, { ended: () => undefined, failed })
  const counted = only
    ? flatMapped(records, (record) => (only(count++) ? [record] : []))
    : mapped(records, (record) => {
        count += 1
        return record
      })
  // A file read to its end without faults needs no second check.
  const ended = (): void => void Object.assign(opened, { checked: problems === 0, count })
  return attended(counted, { ended, failed })
}

function longestIdOf(record: TapeRecord): number {
  let longest = 0
  if (record.type === 'message') {
    for (const { envelope } of record.parts) longest = Math.max(longest, envelope.id?.length ?? 0)
  }
  return longest
}
