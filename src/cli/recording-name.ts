import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { joinSegments } from '../formats/index.js'
import { WiretapeError } from '../model/index.js'
import { escapeText } from '../render/index.js'
import { listTapes, type TapeSummary } from '../tape/index.js'
import { recordingsIn } from './data-folder.js'
import type { SearchFolders } from './io.js'

/** A name in the data folder: `latest`, a label or an id; a day; the number of recordings before the newest. */
const reference = /^(.+?)(?:@(today|yesterday|\d{4}-\d\d-\d\d))?(?:~(\d{1,6}))?$/
const shortestId = 6
/** A name with an ending is far more likely a file than a server's label. */
const fileEnding = /\.(?:jsonl?|har|html|ya?ml|log|txt|gz|zst)$/

/**
 * The path of a recording that a user named, in this order: a path; a file name of the data folder, as `ls` prints it;
 * `latest`, a label or the beginning of a session's id. With `@yesterday` (`@today`, `@2026-11-22`) it is the newest of
 * that day in local time, with `~2` the second before the newest. `-` and missing paths stay unchanged.
 *
 * @throws WiretapeError `unreadable` if `latest`, a day or a count names no recording
 */
export async function recordingPath(name: string, io: SearchFolders): Promise<string> {
  if (name === '' || name === '-' || basename(name) !== name || existsSync(resolve(io.cwd, name))) return name
  const folder = recordingsIn(io.dataFolder)
  const listed = join(folder, name)
  if (existsSync(listed)) return listed
  const [, subject, day, back] = reference.exec(name) ?? []
  const isPlain = day === undefined && back === undefined
  if (subject === undefined || (isPlain && fileEnding.test(name))) return name
  const recordings = joinSegments(await listTapes(folder).catch(() => []), ({ place }) => place)
  const range = day === undefined ? undefined : rangeOf(day)
  const found = recordings
    .map(([first]) => first!)
    .filter((tape) => isCalled(tape, subject) && (!range || isWithin(tape, range)))
    .toSorted((a, b) => (a.meta.startedAt < b.meta.startedAt ? -1 : 1))
  const path = found.at(-1 - Number(back ?? 0))?.path
  if (path !== undefined) return path
  // A plain name may be a missing file, which is reported on opening.
  if (isPlain && subject !== 'latest') return name
  const why =
    found.length > 0
      ? `the folder has only ${found.length} such recordings`
      : 'no recording has this name, label or id'
  throw new WiretapeError('unreadable', `cannot read ${escapeText(name)}: no such file, and ${why}`, {
    hint: 'wiretape ls lists them',
  })
}

export async function recordingPaths(names: readonly string[], io: SearchFolders): Promise<string[]> {
  return Promise.all(names.map((name) => recordingPath(name, io)))
}

/**
 * Short names, accepted by `recordingPath`, of the data folder's recordings: `shop`, `shop~2`, the beginning of an id,
 * or the file name.
 *
 * @param rows all recordings of the data folder, oldest first
 */
export function shortNames(rows: readonly Named[]): string[] {
  const newer = new Map<string, number>()
  const names = rows.toReversed().map(({ label, session, files }) => {
    const before = newer.get(label) ?? 0
    newer.set(label, before + 1)
    if (/^[A-Za-z0-9][\w.-]{0,39}$/.test(label) && label !== 'latest' && !fileEnding.test(label))
      return before === 0 ? label : `${label}~${before}`
    return session !== null && isAlone(session, rows) ? session.slice(0, idShown) : basename(files[0]!)
  })
  return names.toReversed()
}

interface Named {
  readonly label: string
  readonly session: string | null
  readonly files: readonly string[]
}

const idShown = 8

function isAlone(session: string, rows: readonly Named[]): boolean {
  const start = session.slice(0, idShown)
  return rows.filter((row) => row.session?.startsWith(start)).length === 1
}

function isCalled({ meta }: TapeSummary, subject: string): boolean {
  if (subject === 'latest' || meta.label === subject) return true
  return subject.length >= shortestId && meta.wiretape?.session?.startsWith(subject) === true
}

/** Milliseconds since the epoch, end excluded. */
type Range = readonly [from: number, to: number]

function rangeOf(day: string): Range {
  const at = /^\d/.test(day) ? new Date(`${day}T00:00`) : new Date()
  const date = at.getDate() - (day === 'yesterday' ? 1 : 0)
  const midnight = (of: number): number => new Date(at.getFullYear(), at.getMonth(), of).getTime()
  return [midnight(date), midnight(date + 1)]
}

function isWithin({ meta }: TapeSummary, [from, to]: Range): boolean {
  const at = Date.parse(meta.startedAt)
  return at >= from && at < to
}
