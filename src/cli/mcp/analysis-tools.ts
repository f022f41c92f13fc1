import { z } from 'zod'
import { WiretapeError } from '../../model/index.js'
import { rowJson } from '../inspect/json.js'
import { mergedRows } from '../inspect/rows.js'
import type { InspectRow } from '../inspect/inspect-row.js'
import type { Io } from '../io.js'
import { recordingPath } from '../recording-name.js'
import { loadRecordings } from '../recordings.js'
import { runCheck } from '../run/check.js'
import { runDiff } from '../run/diff.js'
import { runExplain } from '../run/explain.js'
import { runStats } from '../run/stats.js'
import { scopeOf } from '../search/scope.js'
import type { Result } from '../sql/duckdb.js'
import { runQuery } from '../sql/query.js'
import { rowsJson } from '../sql/values.js'
import { groupings } from '../stats/groups.js'
import { fitting, type Found } from './answer.js'
import { captureIo } from './captured-io.js'
import { outputRedactor, redactRow } from './safe.js'
import {
  anything,
  comparisonShape,
  countsShape,
  exchangeShape,
  findingShape,
  groupShape,
  noteShape,
  offerShape,
  storyShape,
} from './shapes.js'
import { cursor, defineTool, recordingName, startOf, type Tool, type ToolContext } from './tool.js'

type Members = Readonly<Record<string, unknown>>

const number = z.int().min(0).describe('Message number: sequence in find_messages')

/** Output of a command with `--json`. */
async function jsonOf({ io, folder }: ToolContext, command: (io: Io) => Promise<unknown>): Promise<Members> {
  const captured = captureIo(io, folder)
  await command(captured.io)
  return JSON.parse(captured.text()) as Members
}

/** One page of a member of a report; paths are omitted, since clients know only names. */
function paged(items: unknown, about: Members, at: string | undefined): Found {
  const { version: _version, files: _files, before: _before, after: _after, ...rest } = about
  const from = startOf(at)
  return { about: rest, items: Array.isArray(items) ? items.slice(from) : [], from }
}

const getExchange = defineTool({
  name: 'get_exchange',
  title: 'Get one exchange',
  about: z.object({ recording: z.string(), request: z.int() }),
  item: exchangeShape,
  description:
    'Returns a request with its progress and its response. Each item has the beginning of its JSON text; ' +
    'get_message returns the rest.',
  input: z.strictObject({ recording: recordingName, number, cursor }),
  async run({ recording, number: wanted, cursor: at }, context) {
    const { recordings, close } = await loadRecordings(
      [await recordingPath(recording, { ...context.io, cwd: context.folder })],
      context.folder,
    )
    try {
      const request = await requestOf(wanted, recordings)
      const rows: InspectRow[] = []
      for await (const row of mergedRows(recordings)) if (belongs(row, request)) rows.push(row)
      const from = startOf(at)
      const redactor = outputRedactor()
      const items = rows.slice(from).map((row) => {
        const shown = redactRow(row, redactor)
        const facts = JSON.parse(rowJson(shown, recordings, false)) as Members
        const payload = fitting(shown.raw, context.budget / 4)
        return { ...facts, recording, payload, isWhole: payload.length === shown.raw.length }
      })
      return { about: { recording, request }, items, from }
    } finally {
      await close()
    }
  },
})

/** @throws WiretapeError `usage` if the message does not exist */
async function requestOf(wanted: number, recordings: Parameters<typeof mergedRows>[0]): Promise<number> {
  for await (const row of mergedRows(recordings)) {
    if (row.seq !== wanted) continue
    if (row.kind === 'request') return wanted
    return row.answers ?? row.linked.find((linked) => linked !== undefined) ?? wanted
  }
  throw new WiretapeError('usage', `there is no message ${wanted}`, {
    hint: 'find_messages returns message numbers',
  })
}

function belongs({ seq, answers, linked }: InspectRow, request: number): boolean {
  return seq === request || answers === request || linked.includes(request)
}

const stats = defineTool({
  name: 'stats',
  title: 'Count and time calls',
  about: z.looseObject({ by: z.string(), recordings: z.int() }),
  item: groupShape,
  description:
    'Counts and times the requests of one recording or of all: calls, errors, p50, p95, p99, bytes, tools never called.',
  input: z.strictObject({
    recording: recordingName.optional(),
    by: z.enum(groupings).default('tool'),
    since: z.string().optional().describe('Only messages since then: 7d, 12h, 2026-11-20'),
    cursor,
  }),
  async run({ recording, by, since, cursor: at }, context) {
    const names = recording === undefined ? [] : [recording]
    const options = { by, json: true, ...(since !== undefined && { since }) }
    const { groups, ...about } = await jsonOf(context, (io) => runStats(names, options, io))
    return paged(groups, about, at)
  },
})

const sql = defineTool({
  name: 'sql',
  title: 'Query with SQL',
  about: z.object({}),
  item: z.looseObject({}),
  description:
    'Runs one SQL query (DuckDB) over one recording or all of them and returns the rows. Views: messages, exchanges, sessions, ' +
    'tools, findings, others; "describe messages" lists columns. Payloads are JSON text: payload->>\'$.params.name\'. ' +
    'Aggregate or use limit.',
  input: z.strictObject({
    query: z.string().max(20_000).describe('For example: select tool, calls, p99_ms from tools'),
    recording: recordingName.optional(),
    cursor,
  }),
  async run({ query, recording, cursor: at }, { io, folder, budget, engine, listTapes, signal }) {
    const from = startOf(at)
    const captured = captureIo(io, folder)
    const recordings = await scopeOf(
      recording === undefined ? [] : [recording],
      captured.io,
      undefined,
      listTapes,
    )
    const found = { about: {}, items: [] as unknown[], from, hasMore: false }
    const take = async (result: Result): Promise<void> => {
      const { items, hasMore } = await rowsFrom(result, from, budget)
      Object.assign(found, { items, hasMore })
    }
    if (recording === undefined) await engine.query(query, recordings, captured.io, take, signal)
    else await runQuery(query, recordings, undefined, captured.io, take, signal)
    return found
  },
})

/** Rows of one answer; a whole table could exceed the memory. */
const mostRows = 2_000

async function rowsFrom(
  result: Result,
  from: number,
  mostBytes: number,
): Promise<{ items: unknown[]; hasMore: boolean }> {
  const items: unknown[] = []
  let skipped = 0
  let bytes = 0
  for await (const row of rowsJson(result)) {
    if (skipped < from) {
      skipped += 1
      continue
    }
    if (items.length === mostRows || bytes > mostBytes) return { items, hasMore: true }
    items.push(JSON.parse(row))
    bytes += row.length
  }
  return { items, hasMore: false }
}

const findings = defineTool({
  name: 'findings',
  title: 'Find faults and risks',
  about: z.object({ recording: z.string(), counts: countsShape }),
  item: findingShape,
  description:
    'Checks a recording for protocol faults, schema violations and risks. Each item has a rule, a level, a message and a ' +
    'place.',
  input: z.strictObject({ recording: recordingName, cursor }),
  async run({ recording, cursor: at }, context) {
    const report = await jsonOf(context, (io) => runCheck([recording], { json: true }, io))
    const found = (report['recordings'] as { findings: Members[] }[])
      .flatMap((each) => each.findings)
      .map(({ file: _file, ...finding }) => finding)
    return paged(found, { recording, counts: report['counts'] }, at)
  },
})

const explain = defineTool({
  name: 'explain',
  title: 'Explain failures',
  about: z.looseObject({
    recording: z.string(),
    notes: z.array(noteShape),
    moreNotes: z.int().describe('Number of notes not returned'),
  }),
  item: storyShape,
  description:
    'Describes what happened to a request, which side is at fault, and what the recording does not prove. Without a number: ' +
    'the failed calls. Also returns server restarts and the notes of people.',
  input: z.strictObject({ recording: recordingName, number: number.optional(), cursor }),
  async run({ recording, number: wanted, cursor: at }, context) {
    const { calls, notes, ...about } = await jsonOf(context, (io) =>
      runExplain(recording, wanted, { json: true }, io),
    )
    return paged(calls, { recording, ...about, ...shownNotes(notes as Members[]) }, at)
  },
})

const mostNotes = 10
const longestNote = 150

/** Notes of people and of the recorder, restarts of the server first. */
function shownNotes(all: readonly Members[]): Members {
  const wanted = all.toSorted((a, b) => Number(b['restart']) - Number(a['restart'])).slice(0, mostNotes)
  const notes = wanted.map((note) => ({ ...note, text: fitting(String(note['text']), longestNote) }))
  return { notes, moreNotes: all.length - notes.length }
}

const pair = {
  before: recordingName.describe('Name of the baseline recording'),
  after: recordingName.describe('Name of the recording to compare with the baseline'),
  cursor,
}

const diff = defineTool({
  name: 'diff',
  title: 'Compare two recordings',
  about: z.looseObject({ same: z.boolean(), counts: z.record(z.string(), z.int()) }),
  item: comparisonShape,
  description: 'Compares the requests and responses of two recordings. Items are the exchanges that differ.',
  input: z.strictObject(pair),
  async run({ before, after, cursor: at }, context) {
    const {
      exchanges,
      offers,
      latency: _latency,
      ...about
    } = await jsonOf(context, (io) => runDiff(before, after, { json: true, compareFile: false }, io))
    const differing = (exchanges as Members[]).filter(({ verdict }) => verdict !== 'same')
    return paged(differing, { ...about, differencesInOffers: (offers as unknown[]).length }, at)
  },
})

const compareTools = defineTool({
  name: 'compare_tools',
  title: 'Compare two servers',
  about: anything,
  item: offerShape,
  description:
    'Compares the tools, prompts and resources listed by the servers of two recordings. Items are the differences.',
  input: z.strictObject(pair),
  async run({ before, after, cursor: at }, context) {
    const { offers } = await jsonOf(context, (io) =>
      runDiff(before, after, { json: true, compareFile: false }, io),
    )
    return paged(offers, {}, at)
  },
})

export const analysisTools: readonly Tool[] = [getExchange, stats, sql, findings, explain, diff, compareTools]
