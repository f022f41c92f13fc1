import { attended, chained } from '../formats/index.js'
import { createFold, type Diagnostic, type Fold, type TapeRecord } from '../model/index.js'
import type { RecordingFile } from '../tape/index.js'
import { idKey } from '../wire/index.js'
import { joinSegments, type Place } from './join-segments.js'
import { inFile, openNamed } from './named-file.js'
import { withProgress } from './progress.js'
import { createSpools, plainFile, type Spools } from './spools.js'
import { withSegments } from './with-segments.js'

/** A recording in one file, or in the segments of one session. */
export interface OpenRecording {
  /** Its files, in the order of their segments. */
  readonly files: readonly NamedFile[]
  /**
   * The records, as often as they are asked for; what was written since the files were opened is left out.
   *
   * @param report takes what is wrong with the files
   * @throws WiretapeError that names the file as the user did
   */
  records(report?: (problem: Problem) => void): AsyncIterable<TapeRecord>
}

/** A recording that was read once: the model without payloads, and a way to read the records again. */
export interface LoadedRecording extends OpenRecording {
  readonly fold: Fold
  /** What is wrong with the files; of very many only the first. */
  readonly problems: readonly Problem[]
  readonly problemCount: number
  /** Characters of the longest JSON-RPC id. */
  readonly longestId: number
}

export interface NamedFile {
  readonly file: RecordingFile
  /** As the user named it. */
  readonly name: string
}

/** A problem and the file it is in, as the user named it. */
export type Problem = Diagnostic & { readonly file: string }

const problemsKept = 1_000

/** Recordings, and what was made to read them. */
export interface Opened<R> {
  readonly recordings: R[]
  readonly close: () => Promise<void>
}

/**
 * Opens files and joins those that are segments of one session; one of them stands for all. `-` is stdin; what cannot be read twice is
 * kept in a private temporary file meanwhile.
 *
 * @param formatId what the files are; their content tells without it
 * @throws WiretapeError when a file cannot be read or is no recording; the message names it as the user did
 */
export async function openRecordings(
  names: readonly string[],
  cwd: string,
  formatId?: string,
): Promise<Opened<OpenRecording>> {
  const spools = createSpools()
  const close = (): Promise<void> => spools.close()
  try {
    const opened: OpenedFile[] = []
    for (const name of await withSegments(names, cwd))
      opened.push(await openArgument(name, cwd, spools, formatId))
    const recordings = joinSegments(opened, (file) => file).map((files) => ({
      files,
      records: (report?: (problem: Problem) => void) => recordsOf(files, report),
    }))
    return { recordings, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** As `openRecordings`, and reads each once. */
export async function loadRecordings(
  names: readonly string[],
  cwd: string,
): Promise<Opened<LoadedRecording>> {
  const { recordings, close } = await openRecordings(names, cwd)
  try {
    const loaded: LoadedRecording[] = []
    for (const recording of recordings) loaded.push(await load(recording))
    return { recordings: loaded, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The files of a recording; whoever reads them shows a person how far it is. */
export function watchedFiles({ files }: OpenRecording): RecordingFile[] {
  return files.map(({ file, name }) => ({
    ...file,
    bytes: (to) => withProgress(name, file.bytes(to), to ?? file.sizeBytes),
  }))
}

interface OpenedFile extends NamedFile, Place {
  checked?: boolean
}

async function openArgument(
  argument: string,
  cwd: string,
  spools: Spools,
  formatId: string | undefined,
): Promise<OpenedFile> {
  const { name, path, fault } = await plainFile(argument, cwd, spools, formatId === undefined)
  const { file: found, first } = await openNamed(path, name, formatId)
  const file = fault ? { ...found, fault } : found
  const identity = first?.type === 'meta' ? first.wiretape : undefined
  return { file, name, session: identity?.session, segment: identity?.segment ?? 0 }
}

async function load(recording: OpenRecording): Promise<LoadedRecording> {
  const fold = createFold(idKey)
  const problems: Problem[] = []
  let problemCount = 0
  let longestId = 0
  const report = (problem: Problem): void => {
    problemCount += 1
    if (problems.length < problemsKept) problems.push(problem)
  }
  for await (const record of recording.records(report)) {
    fold.push(record)
    longestId = Math.max(longestId, longestIdOf(record))
  }
  return { ...recording, fold, problems, problemCount, longestId }
}

function recordsOf(
  group: readonly OpenedFile[],
  report: (problem: Problem) => void = () => undefined,
): AsyncIterable<TapeRecord> {
  return chained(group.map((opened) => () => recordsIn(opened, report)))
}

function recordsIn(opened: OpenedFile, report: (problem: Problem) => void): AsyncIterable<TapeRecord> {
  const { file, name } = opened
  let problems = 0
  const take = (diagnostic: Diagnostic): void => {
    problems += 1
    report({ ...diagnostic, file: name })
  }
  if (file.fault) take(file.fault)
  const bytes = (): AsyncIterable<Uint8Array> =>
    withProgress(name, file.bytes(file.sizeBytes), file.sizeBytes)
  return attended(file.format.read({ bytes, checked: opened.checked === true }, take), {
    // What was read to its end without a fault needs no second look.
    ended: () => (opened.checked = problems === 0),
    failed: (error) => inFile(error, name, file.path),
  })
}

function longestIdOf(record: TapeRecord): number {
  let longest = 0
  if (record.type === 'message') {
    for (const { envelope } of record.parts) longest = Math.max(longest, envelope.id?.length ?? 0)
  }
  return longest
}
