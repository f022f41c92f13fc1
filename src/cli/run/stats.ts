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
  wrapPieces,
} from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { loadRecordings } from '../recordings.js'
import { scopeOf, sinceOption } from '../search/scope.js'
import type { Group, Grouping } from '../stats/groups.js'
import { createTally, type Tally } from '../stats/tally.js'
import { tableText, type TableColumn } from '../table.js'

export interface StatsOptions {
  readonly by: Grouping
  readonly since?: string
  readonly json?: boolean
  readonly jsonl?: boolean
}

export async function runStats(names: readonly string[], options: StatsOptions, io: Io): Promise<number> {
  const sinceMs = options.since === undefined ? undefined : sinceOption(options.since)
  const recordings = await scopeOf(names, io, sinceMs)
  const tally = createTally(options.by, sinceMs)
  let read = 0
  for (const recording of recordings.toReversed()) {
    try {
      // Programs get file names, which are stable; people get short names.
      const name = options.json || options.jsonl ? recording.name : recording.shortName
      await countIn(recording.paths, name, tally, io)
      read += 1
    } catch (error) {
      // A broken recording does not stop the others, unless it is the only one named.
      if (!(error instanceof WiretapeError) || names.length === 1) throw error
      await io.complain(error.message, error.hint)
    }
  }
  const groups = sorted(tally.groups(), options.by)
  if (options.jsonl)
    for (const group of groups)
      await io.write(`${escapeJson(JSON.stringify({ version: 1, ...groupJson(group) }))}\n`, 'data')
  else if (options.json) await io.write(statsJson(groups, tally, read, options.by), 'data')
  else await printStats(groups, tally, read, options.by, io)
  return exitCode.done
}

async function countIn(paths: readonly string[], name: string, tally: Tally, io: Io): Promise<void> {
  const ends: (() => void)[] = []
  const loaded = await loadRecordings(paths, io.cwd, (fold) => {
    const counting = tally.begin(fold, name)
    ends.push(() => counting.end())
    return counting
  })
  await loaded.close()
  for (const end of ends) end()
}

/** Slowest first; days in order. */
function sorted(groups: readonly Group[], by: Grouping): Group[] {
  if (by === 'day') return groups.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return groups.toSorted(
    (a, b) => (b.durations.quantile(0.95) ?? -1) - (a.durations.quantile(0.95) ?? -1) || b.calls - a.calls,
  )
}

/** See docs/schemas/stats.schema.json. */
function groupJson(group: Group): object {
  const { name, server, calls, errors, durations, slowest, requestBytes, responseBytes } = group
  return {
    name,
    server,
    calls,
    errors,
    p50Us: rounded(durations.quantile(0.5)),
    p95Us: rounded(durations.quantile(0.95)),
    p99Us: rounded(durations.quantile(0.99)),
    waitedUs: Math.round(group.waitedUs),
    slowest: slowest ?? null,
    requestBytes,
    responseBytes,
    retries: group.retries,
    cancelled: group.cancelled,
    unanswered: group.unanswered,
  }
}

function rounded(us: number | undefined): number | null {
  return us === undefined ? null : Math.round(us)
}

function statsJson(groups: readonly Group[], tally: Tally, recordings: number, by: Grouping): string {
  const rows = groups.map((group) => escapeJson(JSON.stringify(groupJson(group))))
  const never = escapeJson(JSON.stringify(tally.neverCalled()))
  return `{"version":1,"by":"${by}","recordings":${recordings},"groups":[\n${rows.join(',\n')}\n],\n"gate":${JSON.stringify(tally.gate)},\n"neverCalled":${never}}\n`
}

async function printStats(
  groups: readonly Group[],
  tally: Tally,
  recordings: number,
  by: Grouping,
  io: Io,
): Promise<void> {
  const style = createStyle(io.colours)
  const page = { style, columns: io.columns }
  if (groups.length > 0) await io.write(tableText(columnsOf(groups, by, style), page))
  const calls = groups.reduce((sum, group) => sum + group.calls, 0)
  const counted = `${countOf(calls, by === 'method' ? 'request' : 'call')} in ${countOf(recordings, 'recording')}`
  await io.write(`${groups.length > 0 ? '\n' : ''}${style.dim(counted)}\n`)
  const told = gateWords(tally.gate)
  if (told.length > 0) await io.write(`${wrapPieces(told, ' · ', io.columns)}\n`)
  if (by !== 'tool') return
  const never = tally.neverCalled()
  if (never.length === 0) return
  const names = never.slice(0, mostNames).map(({ tool }) => escapeText(tool.slice(0, 60)))
  const more = never.length > names.length ? ` and ${never.length - names.length} more` : ''
  await io.write(`never called: ${names.join(', ')}${more}\n`)
}

/** In the terms of the summary of `inspect`. */
function gateWords(gate: Tally['gate']): string[] {
  const words = [
    [gate.held, 'held'],
    [gate.modified, 'edited'],
    [gate.dropped, 'dropped'],
    [gate.answeredHere, 'answered by wiretape'],
    [gate.injected, 'injected'],
  ] as const
  return words.flatMap(([count, word]) => (count > 0 ? [`${formatCount(count)} ${word}`] : []))
}

const mostNames = 30

function columnsOf(
  groups: readonly Group[],
  by: Grouping,
  style: ReturnType<typeof createStyle>,
): TableColumn[] {
  const time = (share: number): string[] =>
    groups.map(({ durations }) => {
      const us = durations.quantile(share)
      return us === undefined ? '' : formatDuration(us)
    })
  const number = (value: (group: Group) => number): string[] =>
    groups.map((group) => (value(group) === 0 ? '' : formatCount(value(group))))
  const servers = new Set(groups.map(({ server }) => server))
  const waited = groups.map(({ waitedUs }) => (waitedUs > 0 ? formatDuration(waitedUs) : ''))
  const alert = (cell: string): string => style.red(cell)
  const columns: TableColumn[] = [
    { name: by, texts: groups.map(({ name }) => shown(name || '–')), side: 'right' },
    ...(servers.size > 1
      ? [
          {
            name: 'server',
            texts: groups.map(({ server }) => shown(server ?? '')),
            side: 'right' as const,
            keep: 5,
          },
        ]
      : []),
    { name: 'calls', texts: groups.map(({ calls }) => formatCount(calls)), side: 'left' },
    { name: 'errors', texts: number(({ errors }) => errors), side: 'left', tone: alert },
    { name: 'p50', texts: time(0.5), side: 'left' },
    { name: 'p95', texts: time(0.95), side: 'left' },
    { name: 'p99', texts: time(0.99), side: 'left', keep: 7 },
    // Excluded from the times before it.
    ...(waited.every((text) => text === '')
      ? []
      : [{ name: 'client wait', texts: waited, side: 'left' as const, keep: 8 }]),
    {
      name: 'bytes',
      texts: groups.map(({ requestBytes, responseBytes }) => formatBytes(requestBytes + responseBytes)),
      side: 'left',
      keep: 6,
    },
    { name: 'retries', texts: number(({ retries }) => retries), side: 'left', keep: 4 },
    { name: 'cancelled', texts: number(({ cancelled }) => cancelled), side: 'left', keep: 2 },
    { name: 'unanswered', texts: number(({ unanswered }) => unanswered), side: 'left', keep: 3 },
    {
      name: 'slowest',
      texts: groups.map(({ slowest }) =>
        slowest
          ? `${formatDuration(slowest.us)} (${escapeText(slowest.recording)} #${slowest.sequence})`
          : '',
      ),
      side: 'right',
      keep: 3.5,
    },
  ]
  // Omit empty columns.
  const optional = new Set(['retries', 'cancelled', 'unanswered'])
  return columns.filter(({ name, texts }) => !optional.has(name) || texts.some((cell) => cell !== ''))
}

function shown(text: string): string {
  return truncate(escapeText(text.slice(0, 200)), 32)
}
