import { existsSync, statSync } from 'node:fs'
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
  truncate,
  type Style,
} from '../../render/index.js'
import { recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import { rowsIn, type Row } from '../folder-rows.js'
import type { Io } from '../io.js'
import { shortNames } from '../recording-name.js'
import { nameOf, sinceOption } from '../search/scope.js'
import { tableText, type TableColumn } from '../table.js'

export interface LsOptions {
  readonly since?: string
  readonly server?: string
  readonly json?: boolean
  readonly jsonl?: boolean
}

/** A recording with a name that all commands accept. */
type NamedRow = Row & { readonly name: string }

export async function runLs(folder: string | undefined, options: LsOptions, io: Io): Promise<number> {
  const path = folder === undefined ? recordingsIn(io.dataFolder) : resolve(io.cwd, folder)
  const sinceMs = options.since === undefined ? undefined : sinceOption(options.since)
  // The data folder does not exist before the first recording.
  if (folder !== undefined && !existsSync(path)) {
    throw new WiretapeError('unreadable', `cannot list ${escapeText(folder)}: no such folder`)
  }
  const all = await rowsIn(path, io, folder)
  const names =
    path === recordingsIn(io.dataFolder) ? shortNames(all) : all.map(({ files }) => nameOf(files[0]!, io))
  const rows = all
    .map((row, i) => ({ name: names[i]!, ...row }))
    .filter((row) => sinceMs === undefined || lastMoment(row) >= sinceMs)
    .filter((row) => options.server === undefined || isOf(row, options.server))
  // See docs/schemas/ls.schema.json.
  const elements = rows.map((row) => ({ version: 1, ...row }))
  if (options.jsonl)
    for (const element of elements) await io.write(`${escapeJson(JSON.stringify(element))}\n`, 'data')
  else if (options.json) await io.write(`${escapeJson(JSON.stringify(elements, null, 2))}\n`, 'data')
  else if (all.length === 0) await io.write(empty(folder, path))
  else if (rows.length === 0) await io.write(`None of ${countOf(all.length, 'recording')} matches.\n`)
  else await io.write(table(rows, folder ?? path, io))
  return exitCode.done
}

/** Time of the last recorded event. */
function lastMoment({ startedAt, durationMs, files }: Row): number {
  const ended = durationMs === null ? NaN : Date.parse(startedAt) + durationMs
  return Number.isNaN(ended) ? (statSync(files.at(-1)!, { throwIfNoEntry: false })?.mtimeMs ?? 0) : ended
}

/** Matches part of the server's own name or of the recording's label. */
function isOf({ server, label }: Row, wanted: string): boolean {
  const part = wanted.toLowerCase()
  return [server?.name ?? '', label].some((name) => name.toLowerCase().includes(part))
}

/** `.` and `..` are shown as paths: before a full stop they would be unreadable. */
function empty(folder: string | undefined, path: string): string {
  const shown = folder === undefined || /^[./]*$/.test(folder) ? path : folder
  return `No recordings in ${escapeText(shown)}.\nRecord a server: wiretape record -- <server command>\n`
}

/** The file name comes last and is never truncated, since the next command needs it. */
function table(rows: readonly NamedRow[], folder: string, io: Io): string {
  const style = createStyle(io.colours)
  const lines = [
    tableText(columnsOf(rows, style, (io.columns ?? Infinity) >= cellsForVersions), {
      style,
      columns: io.columns,
    }),
  ]
  lines.push(`${style.dim(`${totals(rows)} in ${escapeText(folder)}`)}\n`)
  const failed = rows.filter(({ state }) => state === 'failed').length
  const cutOff = rows.filter(({ state }) => state === 'incomplete').length
  if (failed > 0) {
    const what =
      failed === 1 ? '1 recording has no messages' : `${formatCount(failed)} recordings have no messages`
    lines.push(`${style.dim(`${what}: the server could not be started`)}\n`)
  }
  if (cutOff > 0) {
    const what = cutOff === 1 ? '1 recording is truncated' : `${formatCount(cutOff)} recordings are truncated`
    lines.push(`${style.dim(`${what}: inspect reads the rest, recover writes a closed copy`)}\n`)
  }
  return lines.join('')
}

function totals(rows: readonly Row[]): string {
  const sum = (of: (row: Row) => number | null): number => rows.reduce((all, row) => all + (of(row) ?? 0), 0)
  const errors = sum(({ errors: count }) => count)
  return [
    countOf(rows.length, 'recording'),
    countOf(
      sum(({ messages }) => messages),
      'message',
    ),
    ...(errors > 0 ? [countOf(errors, 'error')] : []),
    formatBytes(sum(({ sizeBytes }) => sizeBytes)),
  ].join(', ')
}

function columnsOf(rows: readonly NamedRow[], style: Style, saysVersions: boolean): TableColumn[] {
  const now = Date.now()
  const text = (of: (row: NamedRow) => string, longest = 24): string[] =>
    rows.map((row) => truncate(escapeText(of(row).slice(0, 200)), longest))
  const number = (of: (row: Row) => number | null): string[] =>
    rows.map((row) => {
      const count = of(row)
      return count === null ? '' : formatCount(count)
    })
  // Outside of the data folder, the file is the name.
  const isNamed = rows.some(({ name, files }) => basename(name) === name && name !== basename(files[0]!))
  const needsLabel = rows.some(({ name, label }) => !name.startsWith(label))
  const columns: TableColumn[] = [
    {
      name: 'state',
      texts: rows.map(stateOf),
      side: 'right',
      tone: (cell, row) => stateTone(rows[row]!, style)(cell),
    },
    { name: 'started (UTC)', texts: rows.map(startOf), side: 'right', keep: 2 },
    { name: 'age', texts: rows.map((row) => ageOf(row, now)), side: 'left', keep: 7 },
    ...(isNamed
      ? [{ name: 'name', texts: text(({ name }) => name, 44), side: 'right' as const, keep: 8 }]
      : []),
    ...(isNamed && !needsLabel
      ? []
      : [
          {
            name: 'label',
            texts: text(({ label }) => label),
            side: 'right' as const,
            keep: isNamed ? 1.5 : 2.5,
          },
        ]),
    { name: 'server', texts: text(({ server }) => peerName(server, saysVersions)), side: 'right', keep: 4 },
    { name: 'client', texts: text(({ client }) => peerName(client, saysVersions)), side: 'right', keep: 1 },
    { name: 'messages', texts: number(({ messages }) => messages), side: 'left', keep: 6 },
    {
      name: 'errors',
      texts: number(({ errors }) => errors || null),
      side: 'left',
      tone: (cell) => style.red(cell),
      keep: 5,
    },
    { name: 'duration', texts: rows.map(ranOf), side: 'left', keep: 3 },
    { name: 'size', texts: rows.map(({ sizeBytes }) => formatBytes(sizeBytes)), side: 'left', keep: 9 },
    { name: 'file', texts: rows.map((row) => escapeText(fileOf(row))), side: 'right' },
  ]
  // Omit empty columns.
  const optional = new Set(['server', 'client', 'errors'])
  return columns.filter(({ name, texts }) => !optional.has(name) || texts.some((cell) => cell !== ''))
}

/** With fewer cells, versions would displace whole columns. */
const cellsForVersions = 160

function peerName(peer: Row['server'], saysVersion: boolean): string {
  if (peer === null) return ''
  return saysVersion ? `${peer.name} ${peer.version}`.trimEnd() : peer.name
}

function stateOf({ state }: Row): string {
  return { live: '● live', complete: '  complete', incomplete: '! truncated', failed: '✕ failed' }[state]
}

function stateTone({ state }: Row, style: Style): (text: string) => string {
  return { live: style.green, complete: style.dim, incomplete: style.yellow, failed: style.red }[state]
}

/** A date and a time to the second. */
const startLength = 19

function startOf({ startedAt }: Row): string {
  return truncate(escapeText(startedAt.slice(0, startLength).replace('T', ' ')), startLength)
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Time since its start: `5m`, `3h`, `12d`. */
function ageOf({ startedAt }: Row, now: number): string {
  const ms = now - Date.parse(startedAt)
  if (Number.isNaN(ms) || ms < 0) return ''
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)}m`
  return ms < 2 * dayMs ? `${Math.floor(ms / hourMs)}h` : `${Math.floor(ms / dayMs)}d`
}

function ranOf({ state, startedAt, durationMs }: Row): string {
  const ms = state === 'live' ? Math.max(0, Date.now() - Date.parse(startedAt)) : durationMs
  return ms === null || Number.isNaN(ms) ? '' : formatDuration(ms * 1000)
}

function fileOf({ files }: Row): string {
  const more = files.length > 1 ? ` and ${countOf(files.length - 1, 'more', 'more')}` : ''
  return basename(files[0]!) + more
}
