import { constants } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { parseSettingsFile, type SettingsFile } from '../compare/index.js'
import { WiretapeError } from '../model/index.js'
import { isNamedPipe, whyNotOurs } from '../tape/index.js'

/**
 * The rules beside a recording: `baseline.compare.yaml` or `baseline.jsonl.compare.yaml` for `baseline.jsonl`.
 * Undefined when there are none.
 *
 * They decide what counts as a difference, although the user did not name them. A file that another user could have
 * written is therefore refused, unless the recording belongs to that user as well.
 *
 * @throws WiretapeError `usage` when they cannot be used; the message names file and line
 */
export async function readCompareFileOf(
  recording: string,
): Promise<(SettingsFile & { readonly name: string }) | undefined> {
  for (const path of compareFilesOf(recording)) {
    const text = await readOwn(path, recording).catch((cause: unknown) => {
      if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
        return undefined
      if (cause instanceof WiretapeError) throw cause
      throw cannotRead(path, cause)
    })
    if (text !== undefined) return { ...parse(path, text), name: basename(path) }
  }
  return undefined
}

async function readOwn(path: string, recording: string): Promise<string> {
  // Opening a pipe would block.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = await file.stat()
    const owner = await stat(recording).catch(() => undefined)
    const why = stats.isFile() ? whyNotOurs(stats, owner?.uid) : 'it is not a file'
    if (why === undefined) return await file.readFile('utf8')
    throw new WiretapeError('usage', `${path} is not used: ${why}`, {
      hint: 'compare without it with --no-compare-file, or use it anyway with --compare-file FILE',
    })
  } finally {
    await file.close()
  }
}

/** Paths of possible rule files, in the order of the search. */
export function compareFilesOf(recording: string): readonly string[] {
  const bare = recording.slice(0, recording.length - extname(recording).length)
  return [`${recording}.compare.yaml`, `${bare}.compare.yaml`]
}

/** @throws WiretapeError `usage` or `unreadable` */
export async function readCompareFile(path: string): Promise<SettingsFile & { readonly name: string }> {
  if (isNamedPipe(path))
    throw new WiretapeError('unreadable', `cannot read ${path}: it is a pipe`, { hint: 'use a file' })
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw cannotRead(path, cause)
  })
  return { ...parse(path, text), name: basename(path) }
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
