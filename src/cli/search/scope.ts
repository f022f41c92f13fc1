import { statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { joinSegments } from '../../formats/index.js'
import { WiretapeError, type MetaRecord } from '../../model/index.js'
import { parseFilter } from '../../filter/index.js'
import { escapeText } from '../../render/index.js'
import { diskReason, listTapes, type TapeLister } from '../../tape/index.js'
import { recordingsIn } from '../data-folder.js'
import { placeOf } from '../folder-rows.js'
import type { SearchFolders } from '../io.js'
import { recordingPath, shortNames } from '../recording-name.js'

/** One recording in a command's scope: a tape of a folder with its segments, or any named file. */
export interface ScopedRecording {
  /** Name for other commands: a file in the data folder, or a path. */
  readonly name: string
  /** Name for people, as printed by `ls`: `shop~1`. Changes with newer recordings. */
  readonly shortName: string
  /** Absolute, in the order of the segments. */
  readonly paths: readonly string[]
  /** Undefined for a file of unknown content. */
  readonly meta?: MetaRecord
  readonly sizeBytes: number
  /** Time of its last write. */
  readonly changedMs: number
}

/**
 * The selected recordings, newest first: all of a label, all of a folder, otherwise as in every command. Without
 * names, all recordings of the data folder.
 *
 * @param sinceMs skips recordings without writes from then on
 * @param list for a program that lists again and again
 * @throws WiretapeError `unreadable` for an unknown name
 */
export async function scopeOf(
  names: readonly string[],
  io: SearchFolders,
  sinceMs = -Infinity,
  list: TapeLister = listTapes,
): Promise<ScopedRecording[]> {
  const data = recordingsIn(io.dataFolder)
  const all = withShortNames(await recordingsOf(data, io, list))
  const chosen = new Map<string, ScopedRecording>()
  const add = (recording: ScopedRecording): void => void chosen.set(recording.paths[0]!, recording)
  if (names.length === 0) all.forEach(add)
  for (const name of names) {
    const labelled = all.filter(({ meta }) => meta?.label === name)
    if (isFolder(resolve(io.cwd, name))) (await recordingsOf(resolve(io.cwd, name), io, list)).forEach(add)
    else if (labelled.length > 0) labelled.forEach(add)
    else add(await namedRecording(name, all, io))
  }
  return [...chosen.values()]
    .filter(({ changedMs }) => changedMs >= sinceMs)
    .toSorted((a, b) => startOf(b) - startOf(a))
}

/**
 * The time of `--since`.
 *
 * @throws WiretapeError `usage`
 */
export function sinceOption(text: string, nowMs = Date.now()): number {
  const { filter } = /^[^\s()]+$/.test(text) ? parseFilter(`since:${text}`, { nowMs }) : { filter: undefined }
  if (filter?.condition.kind === 'number') return filter.condition.value
  throw new WiretapeError('usage', `--since ${escapeText(text)} is not a time`, {
    hint: 'such as 7d, 12h or 2026-11-20',
  })
}

async function namedRecording(
  name: string,
  all: readonly ScopedRecording[],
  io: SearchFolders,
): Promise<ScopedRecording> {
  const path = resolve(io.cwd, await recordingPath(name, io))
  const listed = all.find(({ paths }) => paths.includes(path))
  if (listed) return listed
  try {
    const { size, mtimeMs } = statSync(path)
    return { name, shortName: name, paths: [path], sizeBytes: size, changedMs: mtimeMs }
  } catch (cause) {
    throw new WiretapeError('unreadable', `cannot read ${escapeText(name)}: ${diskReason(cause)}`, { cause })
  }
}

async function recordingsOf(folder: string, io: SearchFolders, list: TapeLister): Promise<ScopedRecording[]> {
  const tapes = await list(folder).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `cannot list ${escapeText(folder)}: ${diskReason(cause)}`, {
      cause,
    })
  })
  return joinSegments(tapes, placeOf).map((group) => {
    const name = nameOf(group[0]!.path, io)
    return {
      name,
      shortName: name,
      paths: group.map(({ path }) => path),
      meta: group[0]!.meta,
      sizeBytes: group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      changedMs: changedAt(group.at(-1)!.path),
    }
  })
}

/** @param recordings all of the data folder, oldest first */
function withShortNames(recordings: readonly ScopedRecording[]): ScopedRecording[] {
  const names = shortNames(
    recordings.map(({ meta, paths }) => ({
      label: meta?.label ?? '',
      session: meta?.wiretape?.session ?? null,
      files: paths,
    })),
  )
  return recordings.map((recording, i) => ({ ...recording, shortName: names[i]! }))
}

/** A tape in the data folder needs only its name; others need their path. */
export function nameOf(path: string, { cwd, dataFolder }: SearchFolders): string {
  if (dirname(path) === recordingsIn(dataFolder)) return basename(path)
  const within = relative(cwd, path)
  return within.startsWith('..') ? path : dirname(within) === '.' ? within : join(within)
}

function startOf({ meta, changedMs }: ScopedRecording): number {
  const ms = Date.parse(meta?.startedAt ?? '')
  return Number.isNaN(ms) ? changedMs : ms
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** A tape deleted just now counts as new: opening it reports the error. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
}
