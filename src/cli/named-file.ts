import type { Seen } from '../formats/index.js'
import { WiretapeError, type Diagnostic, type TapeRecord } from '../model/index.js'
import { openRecording, type RecordingFile } from '../tape/index.js'
import { placeOf } from './diagnostics.js'

/**
 * A recording and its first record, which is there: a file without any is none.
 *
 * @param name what the user calls the file
 * @param formatId what it is; its content tells without it
 * @throws WiretapeError that names the file as the user did, and the line where there is one
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
 * What a reader threw, with the file named as the user named it: errors from inside a file do not know it,
 * others know its absolute path only.
 *
 * @param problem what was found in the file before
 */
export function inFile(error: unknown, name: string, path: string, problem?: Diagnostic): unknown {
  if (!(error instanceof WiretapeError) || error.code === 'usage' || error.code === 'unwritable') return error
  const { code, hint, message } = error
  const place = problem ? ` (${placeOf(problem).slice(2)}: ${problem.message})` : ''
  const named = message.includes(path) ? message.replaceAll(path, () => name) : `${name}: ${message}${place}`
  return new WiretapeError(code, named, { cause: error, ...(hint !== undefined && { hint }) })
}
