import type { Seen } from '../formats/index.js'
import { WiretapeError, type Diagnostic, type TapeRecord } from '../model/index.js'
import { openFile, recordingIn, type FileStart, type RecordingFile } from '../tape/index.js'
import { placeOf } from './diagnostics.js'

/** A recording with its first record. */
export interface NamedRecording {
  readonly file: RecordingFile
  readonly first: TapeRecord | undefined
  readonly seen: Seen
  /** The whole file, if it is small. */
  readonly content: Uint8Array | undefined
}

/**
 * A recording and its first record: a file without records is no recording.
 *
 * @param name the user's name of the file
 * @param formatId detected from the content by default
 * @param start of the file, if it was read already
 * @throws WiretapeError with the user's name of the file, and the line if known
 */
export async function openNamed(
  path: string,
  name: string,
  formatId?: string,
  start?: FileStart,
): Promise<NamedRecording> {
  const problems: Diagnostic[] = []
  try {
    const opened = openFile(path, start)
    const { head } = opened
    const file = recordingIn(opened, formatId)
    let first: TapeRecord | undefined
    const seen: Seen = {}
    const bytes = (): AsyncIterable<Uint8Array> => continued(head, file)
    for await (first of file.format.read({ bytes, seen }, (problem) => problems.push(problem))) break
    return { file, first, seen, content: head.length === file.sizeBytes ? head : undefined }
  } catch (error) {
    throw inFile(error, name, path, problems[0])
  }
}

/** The bytes of a file whose start was read: most first records are in it. */
async function* continued(start: Uint8Array, file: RecordingFile): AsyncGenerator<Uint8Array> {
  if (start.length > 0) yield start
  if (start.length < file.sizeBytes) yield* file.bytes(file.sizeBytes, start.length)
}

/**
 * Adds the user's name of the file to a reader's error: errors from inside a file do not have it,
 * others only have its absolute path.
 *
 * @param problem found in the file before
 */
export function inFile(error: unknown, name: string, path: string, problem?: Diagnostic): unknown {
  if (!(error instanceof WiretapeError) || error.code === 'usage' || error.code === 'unwritable') return error
  const { code, hint, message } = error
  const place = problem ? ` (${placeOf(problem).slice(2)}: ${problem.message})` : ''
  const named = message.includes(path) ? message.replaceAll(path, () => name) : `${name}: ${message}${place}`
  return new WiretapeError(code, named, { cause: error, ...(hint !== undefined && { hint }) })
}
