import { basename, resolve } from 'node:path'
import { registryFolderIn } from '../../capture/index.js'
import { liveCaptures } from '../../control/index.js'
import { WiretapeError } from '../../model/index.js'
import {
  countOf,
  escapeText,
  formatBytes,
  formatCount,
  formatDuration,
  pad,
  truncate,
} from '../../render/index.js'
import { diskReason, listTapes, type TapeSummary } from '../../tape/index.js'
import { exitCode } from '../exit-codes.js'
import { recordingsIn, type Io } from '../io.js'

export interface LsOptions {
  readonly json?: boolean
}

/** One recording: all segments of a session. */
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
  const live = new Set((await liveCaptures(registryFolderIn(io.dataFolder))).map((capture) => capture.tape))
  const tapes = await listTapes(path).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `cannot list ${path}: ${diskReason(cause)}`, { cause })
  })
  const rows = groupBySession(tapes).map((group) => rowOf(group, live))
  if (options.json) {
    await io.write(`${JSON.stringify(rows, null, 2)}\n`)
    return exitCode.done
  }
  if (rows.length === 0) {
    await io.write(
      `No recordings in ${escapeText(path)}.\nRecord a server:  wiretape record -- <server command>\n`,
    )
    return exitCode.done
  }
  for (const row of rows) {
    if (!(await io.write(`${renderRow(row, io)}\n`))) break
  }
  await io.write(io.style.dim(`${countOf(rows.length, 'recording')} in ${escapeText(path)}\n`))
  return exitCode.done
}

function groupBySession(tapes: readonly TapeSummary[]): TapeSummary[][] {
  const groups = new Map<string, TapeSummary[]>()
  for (const tape of tapes) {
    const key = tape.meta.wiretape?.session ?? tape.path
    const group = groups.get(key)
    if (group) group.push(tape)
    else groups.set(key, [tape])
  }
  return [...groups.values()]
}

function rowOf(group: readonly TapeSummary[], live: ReadonlySet<string>): Row {
  const { meta } = group[0]!
  const { end } = group.at(-1)!
  const ended = end !== undefined && end.wiretape?.rotated !== true
  const counts = group.map((tape) => tape.end?.wiretape?.messages)
  return {
    session: meta.wiretape?.session ?? null,
    label: meta.label,
    startedAt: meta.startedAt,
    state: ended
      ? 'complete'
      : group.some((tape) => live.has(tape.path) || live.has(firstSegment(tape)))
        ? 'live'
        : 'incomplete',
    messages: counts.every((count) => count !== undefined) ? counts.reduce((a, b) => a + b, 0) : null,
    durationMs: ended ? end.durationMs : null,
    exitCode: ended ? end.exitCode : null,
    sizeBytes: group.reduce((sum, tape) => sum + tape.sizeBytes, 0),
    files: group.map((tape) => tape.path),
  }
}

/** The registry knows the file a capture began with. */
function firstSegment(tape: TapeSummary): string {
  const segment = tape.meta.wiretape?.segment ?? 0
  return segment === 0 ? tape.path : tape.path.replace(`.${segment}.jsonl`, '.jsonl')
}

function renderRow(row: Row, io: Io): string {
  const { style } = io
  const state = {
    live: style.green('● live      '),
    complete: style.dim('  complete  '),
    incomplete: style.yellow('! incomplete'),
  }[row.state]
  const more = row.files.length > 1 ? ` (${row.files.length} files)` : ''
  const columns = [
    state,
    row.startedAt.slice(0, 19).replace('T', ' '),
    pad(truncate(escapeText(row.label), 28), 28),
    pad(row.messages === null ? '' : formatCount(row.messages), 9, 'left'),
    pad(row.durationMs === null ? '' : formatDuration(row.durationMs * 1000), 8, 'left'),
    pad(formatBytes(row.sizeBytes), 8, 'left'),
    escapeText(basename(row.files.at(-1)!)) + more,
  ]
  return columns.join('  ')
}
