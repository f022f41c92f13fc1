import type { Seen } from '../formats/index.js'
import { WiretapeError, type Diagnostic, type TapeRecord } from '../model/index.js'
import { openRecording, type RecordingFile } from '../tape/index.js'
import { placeOf } from './diagnostics.js'

/**
 * A recording and its first record: a file without records is no recording.
 *
 * @param name the user's name of the file
 * @param formatId detected from the content by default
 * @throws WiretapeError with the user's name of the file, and the line if known
 */
export async function openNamed(
  path: string,
  name: string,
  formatId?: string,
): Promise<{ file: RecordingFile; first: TapeRecord | undefined; seen: Seen }> {
  const problems: Diagnostic[] = []
  try {
    const file = await openRecording(path, formatId)
    let first: TapeRecord | undefined
    const seen: Seen = {}
    const bytes = (): AsyncIterable<Uint8Array> => file.bytes(file.sizeBytes)
    for await (first of file.format.read({ bytes, seen }, (problem) => problems.push(problem))) break
    return { file, first, seen }
  } catch (error) {
    throw inFile(error, name, path, problems[0])
  }
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
