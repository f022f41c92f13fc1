import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import {
  isVariableName,
  parseSavedCalls,
  type SavedCall,
  type UsedVariables,
  type VariableSources,
} from '../../saved-calls/index.js'
import { findJsonValue, isFault } from '../../wire/index.js'
import { createComplaints } from '../complaints.js'
import type { Io } from '../io.js'
import { systemReason } from '../system-reason.js'

/** A saved call and the user's name of its file. */
export interface FiledCall extends SavedCall {
  readonly file: string
}

const longestFile = 4 * 1024 * 1024
const mostFiles = 1_000

/**
 * The files of saved calls that a user named; those of folders are sorted by name.
 *
 * @throws WiretapeError for a missing path, and for a folder without such files
 */
export async function savedFiles(named: readonly string[], io: Io): Promise<string[]> {
  const files: string[] = []
  for (const name of named) {
    const path = resolve(io.cwd, name)
    const info = await stat(path).catch((cause: unknown) => {
      throw unreadable(name, cause)
    })
    if (!info.isDirectory()) {
      files.push(name)
      continue
    }
    const inside = await readdir(path, { recursive: true }).catch((cause: unknown) => {
      throw unreadable(name, cause)
    })
    const found = inside
      .filter((file) => /\.ya?ml$/i.test(file) && !/(?:^|[\\/])\./.test(file))
      .toSorted()
      .map((file) => join(name, file))
    if (found.length === 0)
      throw new WiretapeError('usage', `${escapeText(name)} has no saved calls`, {
        hint: 'saved calls are in files that end with .yaml or .yml',
      })
    files.push(...found)
  }
  const all = [...new Map(files.map((file) => [resolve(io.cwd, file), file])).values()]
  if (all.length > mostFiles)
    throw new WiretapeError('usage', `there are more than ${mostFiles} files`, {
      hint: 'name a folder that has only saved calls',
    })
  return all
}

/**
 * The calls of files, with their variables filled in. All problems of all files are reported.
 *
 * @returns undefined on any problem
 */
export async function readSavedCalls(
  files: readonly string[],
  sources: VariableSources,
  used: UsedVariables,
  io: Io,
): Promise<FiledCall[] | undefined> {
  const calls: FiledCall[] = []
  const complaints = createComplaints()
  let isGood = true
  for (const file of files) {
    const reading = parseSavedCalls(await fileText(file, io), sources, used)
    for (const diagnostic of reading.diagnostics) complaints.input({ ...diagnostic, file })
    if (reading.diagnostics.length > 0) isGood = false
    calls.push(...reading.calls.map((call) => ({ ...call, file })))
  }
  await complaints.tell(io)
  return isGood ? calls : undefined
}

/** @throws WiretapeError `unreadable` */
export async function fileText(file: string, io: Io): Promise<string> {
  let bytes
  try {
    const path = resolve(io.cwd, file)
    const { size } = await stat(path)
    if (size > longestFile) throw new RangeError('it is larger than 4 MB')
    bytes = await readFile(path)
  } catch (cause) {
    throw unreadable(file, cause)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new WiretapeError('unreadable', `cannot read ${escapeText(file)}: it is not UTF-8`)
  }
}

function unreadable(name: string, cause: unknown): WiretapeError {
  const reason = cause instanceof RangeError ? cause.message : systemReason(cause)
  return new WiretapeError('unreadable', `cannot read ${escapeText(name)}: ${reason}`, { cause })
}

/**
 * `--var name=value`: JSON, or else plain text.
 *
 * @throws WiretapeError `usage`; its message never contains the value
 */
export function parseVariables(given: readonly string[]): Map<string, string> {
  const variables = new Map<string, string>()
  for (const text of given) {
    const cut = text.indexOf('=')
    const name = text.slice(0, Math.max(0, cut))
    if (cut < 0 || !isVariableName(name))
      throw new WiretapeError(
        'usage',
        `--var ${JSON.stringify(cut < 0 ? '' : name)} is not a name and a value`,
        {
          hint: 'use the form --var query=tea; a name has letters, digits, _ and -',
        },
      )
    const value = text.slice(cut + 1)
    const found = findJsonValue(value)
    variables.set(name, isFault(found) ? JSON.stringify(value) : value.slice(found.start, found.end))
  }
  return variables
}
