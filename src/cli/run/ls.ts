import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
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
import { recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import { maxOf } from '../extremes.js'
import { rowsIn, type Row } from '../folder-rows.js'
import type { Io } from '../io.js'

export interface LsOptions {
  readonly json?: boolean
}

export async function runLs(folder: string | undefined, options: LsOptions, io: Io): Promise<number> {
  const path = folder === undefined ? recordingsIn(io.dataFolder) : resolve(io.cwd, folder)
  // A data folder without a recording is not there yet.
  if (folder !== undefined && !existsSync(path)) {
    throw new WiretapeError('unreadable', `cannot list ${escapeText(folder)}: no such folder`)
  }
  const rows = await rowsIn(path, io, folder)
  if (options.json) await io.write(`${escapeJson(JSON.stringify(rows, null, 2))}\n`, 'data')
  else await io.write(rows.length === 0 ? empty(folder, path) : table(rows, folder ?? path, io))
  return exitCode.done
}

/** `.` and `..` are told by their paths: before a full stop they name nothing. */
function empty(folder: string | undefined, path: string): string {
  const shown = folder === undefined || /^[./]*$/.test(folder) ? path : folder
  return `No recordings in ${escapeText(shown)}.\nRecord a server: wiretape record -- <server command>\n`
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
  const failed = rows.filter(({ state }) => state === 'failed').length
  const cutOff = rows.filter(({ state }) => state === 'incomplete').length
  lines.push(style.dim(`${countOf(rows.length, 'recording')} in ${escapeText(folder)}`))
  if (failed > 0) {
    const what = failed === 1 ? '1 has no messages' : `${formatCount(failed)} have no messages`
    lines.push(style.dim(`${what}: the server could not be started`))
  }
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
  return { live: '● live', complete: '  complete', incomplete: '! incomplete', failed: '✕ failed' }[state]
}

function stateTone({ state }: Row, style: Style): (text: string) => string {
  return { live: style.green, complete: style.dim, incomplete: style.yellow, failed: style.red }[state]
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
