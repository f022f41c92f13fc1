import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { parseSettingsFile, type SettingsFile } from '../compare/index.js'
import { WiretapeError } from '../model/index.js'

/**
 * The rules that stand beside a recording: `baseline.compare.yaml` or `baseline.jsonl.compare.yaml` for
 * `baseline.jsonl`. Undefined when there are none.
 *
 * @throws WiretapeError `usage` when they cannot be used; the message names file and line
 */
export async function readCompareFileOf(
  recording: string,
): Promise<(SettingsFile & { readonly path: string }) | undefined> {
  for (const path of compareFilesOf(recording)) {
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
        return undefined
      throw cannotRead(path, cause)
    })
    if (text !== undefined) return { ...parse(path, text), path }
  }
  return undefined
}

/** Paths at which they are looked for, in that order. */
export function compareFilesOf(recording: string): readonly string[] {
  const bare = recording.slice(0, recording.length - extname(recording).length)
  return [`${recording}.compare.yaml`, `${bare}.compare.yaml`]
}

/** @throws WiretapeError `usage` or `unreadable` */
export async function readCompareFile(path: string): Promise<SettingsFile> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw cannotRead(path, cause)
  })
  return parse(path, text)
}

function parse(path: string, text: string): SettingsFile {
  const file = parseSettingsFile(text)
  if (!('fault' in file)) return file
  const { message, hint, line } = file.fault
  throw new WiretapeError('usage', `${path}${line === undefined ? '' : `, line ${line}`}: ${message}`, {
    ...(hint !== undefined && { hint }),
  })
}

function cannotRead(path: string, cause: unknown): WiretapeError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const why = code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : code
  return new WiretapeError('unreadable', `cannot read ${path}: ${why}`, { cause })
}
