import { compileFindText, isEmptyFilter, needleOf, type FindText } from '../../filter/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeText } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { filterOption } from '../filter-option.js'
import { mergedRows } from '../inspect/rows.js'
import type { InspectRow } from '../inspect/inspect-row.js'
import { prepareSieve } from '../inspect/sieve.js'
import type { Io } from '../io.js'
import { loadRecordings } from '../recordings.js'
import { matchJson, matchLine } from '../search/matches.js'
import { spotLines } from '../search/scan.js'
import { scopeOf, sinceOption, type ScopedRecording } from '../search/scope.js'

export interface SearchOptions {
  readonly since?: string
  readonly in?: readonly string[]
  readonly limit?: number
  readonly json?: boolean
  readonly jsonl?: boolean
}

/** The searched text and the time of the search. */
interface Search {
  readonly text: string
  readonly nowMs: number
  readonly findText: FindText
  readonly spot: (recording: ScopedRecording) => ReturnType<typeof spotLines>
}

/** @param shown converts a matching row for output; the filter gets the row as recorded */
export async function runSearch(
  words: readonly string[],
  options: SearchOptions,
  io: Io,
  shown: (row: InspectRow) => InspectRow = (row) => row,
): Promise<number> {
  const nowMs = Date.now()
  const search = searchOf(words.join(' '), options.since, nowMs)
  const sinceMs = options.since === undefined ? undefined : sinceOption(options.since, nowMs)
  const recordings = await scopeOf(options.in ?? [], io, sinceMs)
  const out = createOut(recordings.length, options, io)
  let left = options.limit ?? Infinity
  await out.begin()
  for (const recording of recordings) {
    // Without matches nothing is written, and only a write detects that the reader is gone.
    if (left <= 0 || out.gone || !(await io.flush())) break
    try {
      for await (const row of rowsOf(recording, search, io)) {
        await out.take(recording, shown(row), search.findText)
        left -= 1
        if (left <= 0 || out.gone) break
      }
    } catch (error) {
      // A broken recording does not stop the search.
      if (!(error instanceof WiretapeError)) throw error
      await io.complain(error.message, error.hint)
    }
  }
  await out.end()
  return exitCode.done
}

function searchOf(words: string, since: string | undefined, nowMs: number): Search {
  const filter = filterOption(words, nowMs, 'the filter')
  if (isEmptyFilter(filter))
    throw new WiretapeError('usage', 'a word or condition to search for is needed', {
      hint: 'wiretape search timeout',
    })
  if (since !== undefined) sinceOption(since, nowMs)
  const needle = needleOf(filter.condition)
  return {
    text: since === undefined ? words : `(${words}) since:${since}`,
    nowMs,
    findText: compileFindText(filter.condition),
    spot: async (recording) => (needle === undefined ? undefined : spotLines(recording, needle)),
  }
}

async function* rowsOf(
  recording: ScopedRecording,
  { text, nowMs, spot }: Search,
  io: Io,
): AsyncGenerator<InspectRow, void, undefined> {
  const spotted = await spot(recording)
  if (spotted?.isEmpty) return
  const maker = await prepareSieve(text, nowMs, spotted && ((place) => spotted.has(place)))
  const { recordings, close } = await loadRecordings(recording.paths, io.cwd, maker.watch)
  try {
    const sieve = maker.make(recordings.map(({ fold }) => fold))
    yield* mergedRows(recordings, sieve)
  } finally {
    await close()
  }
}

interface Out {
  /** The reader is gone. */
  readonly gone: boolean
  begin(): Promise<void>
  take(recording: ScopedRecording, row: InspectRow, findText: FindText): Promise<void>
  end(): Promise<void>
}

function createOut(searched: number, { json, jsonl }: SearchOptions, io: Io): Out {
  const page = { style: createStyle(io.colours), columns: io.columns }
  let gone = false
  let matches = 0
  let found = 0
  let last: ScopedRecording | undefined
  const say = async (text: string, kind: 'text' | 'data'): Promise<void> => {
    if (!(await io.write(text, kind))) gone = true
  }
  return {
    get gone() {
      return gone
    },
    async begin() {
      if (json && !jsonl) await say('{"version":1,"matches":[', 'data')
    },
    async take(recording, row, findText) {
      const isFirst = recording !== last
      last = recording
      matches += 1
      if (isFirst) found += 1
      if (jsonl) await say(`${matchJson(recording, row, findText)}\n`, 'data')
      else if (json) await say(`${matches > 1 ? ',' : ''}\n${matchJson(recording, row, findText)}`, 'data')
      else await say(matchLine(recording, row, findText, isFirst, page), 'text')
      // Show the first match of a recording before the next one is read.
      if (isFirst) gone ||= !(await io.flush())
    },
    async end() {
      if (jsonl) return
      if (json) return say(`\n],\n"recordings":${searched},"found":${found}}\n`, 'data')
      const where = countOf(searched, 'recording')
      const counted =
        matches === 0
          ? `no matches in ${where}`
          : `${countOf(matches, 'match', 'matches')} in ${found} of ${where}`
      await say(`${matches > 0 ? '\n' : ''}${page.style.dim(escapeText(counted))}\n`, 'text')
    },
  }
}
