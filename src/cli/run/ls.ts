import { basename, resolve } from 'node:path'
import { registryFolderIn } from '../../capture/index.js'
import { liveCaptures, type LiveCapture } from '../../control/index.js'
import { WiretapeError } from '../../model/index.js'
import {
  countOf,
  createStyle,
  escapeJson,
  escapeText,
  formatBytes,
  formatCount,
  formatDuration,
  pad,
  truncate,
  widthOf,
  type Style,
} from '../../render/index.js'
import { diskReason, listTapes, type TapeSummary } from '../../tape/index.js'
import { recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import { maxOf } from '../extremes.js'
import type { Io } from '../io.js'
import { joinSegments, type Place } from '../join-segments.js'
import { isLive } from '../live.js'

export interface LsOptions {
  readonly json?: boolean
}

/** One recording: all segments of a session. A second file of the same segment is one of its own. */
interface Row {
  readonly session: string | null
  readonly label: string
  readonly startedAt: string
  readonly state: 'live' | 'complete' | 'incomplete'
  /** Null where the end of a file is missing. */
  readonly messages: number | null
  readonly durationMs: number | null
  readonly exitCode: number | null
  readonly sizeBytes: number
  readonly files: readonly string[]
}

export async function runLs(folder: string | undefined, options: LsOptions, io: Io): Promise<number> {
  const path = folder === undefined ? recordingsIn(io.dataFolder) : resolve(io.cwd, folder)
  const captures = await liveCaptures(registryFolderIn(io.dataFolder))
  const tapes = await listTapes(path).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `cannot list ${folder ?? path}: ${reasonOf(cause)}`, { cause })
  })
  const rows = joinSegments(tapes, placeOf).map((group) => rowOf(group, captures))
  if (options.json) await io.write(`${escapeJson(JSON.stringify(rows, null, 2))}\n`)
  else await io.write(rows.length === 0 ? empty(folder ?? path) : table(rows, folder ?? path, io))
  return exitCode.done
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ENOTDIR' ? 'it is no folder' : diskReason(cause)
}

function placeOf({ meta }: TapeSummary): Place {
  return { session: meta.wiretape?.session, segment: meta.wiretape?.segment ?? 0 }
}

function rowOf(group: readonly TapeSummary[], captures: readonly LiveCapture[]): Row {
  const { meta } = group[0]!
  const { end } = group.at(-1)!
  const ended = end !== undefined && end.wiretape?.rotated !== true
  const counts = group.map((tape) => tape.end?.wiretape?.messages)
  const live = !ended && group.some((tape) => isLive(tape, captures))
  return {
    session: meta.wiretape?.session ?? null,
    label: meta.label,
    startedAt: meta.startedAt,
    state: ended ? 'complete' : live ? 'live' : 'incomplete',
    messages: counts.every((count) => count !== undefined) ? counts.reduce((a, b) => a + b, 0) : null,
    durationMs: ended ? end.durationMs : null,
    // What `recover` closed has no true one.
    exitCode: ended && !end.wiretape?.recovered ? end.exitCode : null,
    sizeBytes: group.reduce((sum, tape) => sum + tape.sizeBytes, 0),
    files: group.map((tape) => tape.path),
  }
}

function empty(folder: string): string {
  return `No recordings in ${escapeText(folder)}.\nRecord a server: wiretape record -- <server command>\n`
}

/** The name of the file comes last and is never cut: it is what the next command needs. */
function table(rows: readonly Row[], folder: string, io: Io): string {
  const style = createStyle(io.colours)
  const files = rows.map((row) => escapeText(fileOf(row)))
  const labels = rows.map((row) => truncate(escapeText(row.label.slice(0, 200)), 24))
  let columns = [
    column('state', rows.map(stateOf), 'right', (cell, row) => stateTone(row, style)(cell)),
    column('started (UTC)', rows.map(startOf), 'right'),
    column('label', labels, 'right'),
    column(
      'messages',
      rows.map(({ messages }) => (messages === null ? '' : formatCount(messages))),
      'left',
    ),
    column('ran', rows.map(ranOf), 'left'),
    column(
      'size',
      rows.map(({ sizeBytes }) => formatBytes(sizeBytes)),
      'left',
    ),
  ]
  const longest = maxOf(files.map(widthOf), 0)
  // A file name of ours holds both.
  for (const name of ['label', 'started (UTC)']) {
    const width = columns.reduce((sum, { width }) => sum + width + 2, longest)
    if (width > (io.columns ?? Infinity)) columns = columns.filter((column) => column.name !== name)
  }
  const lines = [style.dim([...columns.map(({ head }) => head), 'file'].join('  '))]
  for (const [i, row] of rows.entries())
    lines.push([...columns.map(({ cell }) => cell(i, row)), files[i]!].join('  '))
  const cutOff = rows.filter(({ state }) => state === 'incomplete').length
  lines.push(style.dim(`${countOf(rows.length, 'recording')} in ${escapeText(folder)}`))
  if (cutOff > 0) {
    const what = cutOff === 1 ? '1 was cut off' : `${formatCount(cutOff)} were cut off`
    lines.push(style.dim(`${what}: inspect reads what is there, recover writes a closed copy`))
  }
  return `${lines.join('\n')}\n`
}

interface Column {
  readonly name: string
  readonly width: number
  readonly head: string
  readonly cell: (i: number, row: Row) => string
}

function column(
  name: string,
  texts: readonly string[],
  side: 'left' | 'right',
  tone: (cell: string, row: Row) => string = (cell) => cell,
): Column {
  const width = maxOf(texts.map(widthOf), name.length)
  return {
    name,
    width,
    head: pad(name, width, side),
    cell: (i, row) => tone(pad(texts[i]!, width, side), row),
  }
}

function stateOf({ state }: Row): string {
  return { live: '● live', complete: '  complete', incomplete: '! incomplete' }[state]
}

function stateTone({ state }: Row, style: Style): (text: string) => string {
  return { live: style.green, complete: style.dim, incomplete: style.yellow }[state]
}

/** A date and a time to the second. */
const startLength = 19

function startOf({ startedAt }: Row): string {
  return truncate(escapeText(startedAt.slice(0, startLength).replace('T', ' ')), startLength)
}

function ranOf({ state, startedAt, durationMs }: Row): string {
  const ms = state === 'live' ? Math.max(0, Date.now() - Date.parse(startedAt)) : durationMs
  return ms === null || Number.isNaN(ms) ? '' : formatDuration(ms * 1000)
}

function fileOf({ files }: Row): string {
  const more = files.length > 1 ? ` and ${countOf(files.length - 1, 'more', 'more')}` : ''
  return basename(files[0]!) + more
}
