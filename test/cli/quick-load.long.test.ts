/** Tapes are loaded without a record for each line; what comes out is what reading every line comes to. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Wanted } from '../../src/cli/inspect/row-index.js'
import { mergedRows } from '../../src/cli/inspect/rows.js'
import { prepareSieve } from '../../src/cli/inspect/sieve.js'
import {
  loadRecordings,
  recordWatcher,
  type LoadedRecording,
  type Watcher,
} from '../../src/cli/recordings.js'
import { matchJson } from '../../src/cli/search/matches.js'
import { spotLines } from '../../src/cli/search/scan.js'
import { groupings } from '../../src/cli/stats/groups.js'
import { createTally } from '../../src/cli/stats/tally.js'
import { compileFindText, needleOf, parseFilter } from '../../src/filter/index.js'
import type { Fold } from '../../src/model/index.js'
import { fixtures } from '../behaviour/run-cli.js'
import { isLong } from '../long.js'
import { messagesOf, nameless, oddTape } from './odd-tapes.js'

let folder = ''
const names: string[] = []
const seeds = isLong ? Array.from({ length: 50 }, (_, i) => i + 1) : [1, 8]
/** Counted and searched in every way; `npm test` leaves out the short ones. */
const counted = (): readonly string[] =>
  isLong ? names : names.filter((name) => /odd|every|hostile/.test(name))
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-quick-'))
  for (const from of [fixtures, join(fixtures, '../trace-v1')]) {
    for (const name of readdirSync(from).filter((each) => each.endsWith('.jsonl'))) {
      names.push(`${names.length}-${name}`)
      copyFileSync(join(from, name), join(folder, names.at(-1)!))
    }
  }
  for (const seed of seeds) {
    names.push(`odd-${seed}.jsonl`)
    // Some are longer than what is read at a time.
    const tape = oddTape(seed * 7919, seed % 25 === 0 ? 3000 : 60)
    writeFileSync(join(folder, names.at(-1)!), tape)
    names.push(`other-odd-${seed}.jsonl`, `messages-odd-${seed}.jsonl`)
    writeFileSync(join(folder, names.at(-2)!), nameless(tape, 7))
    writeFileSync(join(folder, names.at(-1)!), messagesOf(tape))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A watcher that is a function wants a record of every line. */
const usually =
  (watch: (fold: Fold) => Watcher = () => () => undefined) =>
  (fold: Fold): Watcher =>
    recordWatcher(watch(fold))

function said(error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'TypeError') throw error
  return error.message
}

/** All that is known of recordings that were loaded. */
function known({ fold, problems, problemCount, notes, longestId }: LoadedRecording): unknown {
  const { entries, sessions } = fold
  const rows = Array.from({ length: entries.length }, (_, row) => ({
    kind: entries.kind(row),
    flags: entries.flags(row),
    us: entries.us(row),
    seq: entries.seq(row),
    size: entries.size(row),
    peer: entries.peer(row),
    linked: entries.linked(row),
    held: entries.heldUs(row),
    waited: entries.waitedUs(row),
  }))
  return { rows, sessions, problems, problemCount, notes: notes.list, longestId, counts: fold.counts() }
}

async function loaded(name: string, watch?: (fold: Fold) => Watcher): Promise<unknown> {
  try {
    const { recordings, close } = await loadRecordings([name], folder, watch)
    const all = recordings.map(known)
    // What is read again is chosen by number.
    const again: unknown[] = []
    for (const recording of recordings)
      for await (const record of recording.records(undefined, (number) => number % 3 === 1))
        again.push(record)
    await close()
    return { all, again }
  } catch (error) {
    return said(error)
  }
}

describe('loading a tape quickly', () => {
  it('finds the rows, sessions, problems and notes that reading every line finds', async () => {
    for (const name of names)
      expect({ name, found: await loaded(name) }).toEqual({ name, found: await loaded(name, usually()) })
  })

  it('makes no record of plain lines', async () => {
    let records = 0
    let plain = 0
    const watch = (): Watcher => ({ take: () => void (records += 1), plain: () => void (plain += 1) })
    for (const name of names.filter((each) => each.startsWith('odd-')))
      await loadRecordings([name], folder, watch).then(({ close }) => close(), said)
    expect(plain).toBeGreaterThan(records / 4)
  })
})

describe('stats', () => {
  it.each(groupings)('by %s counts what it counts where every line is read', async (by) => {
    const count = async (name: string, sinceMs: number | undefined, isUsual: boolean): Promise<unknown> => {
      const tally = createTally(by, sinceMs)
      const ends: (() => void)[] = []
      const watch = (fold: Fold): ReturnType<typeof tally.begin> => {
        const counting = tally.begin(fold, name)
        ends.push(() => counting.end())
        return counting
      }
      try {
        await (await loadRecordings([name], folder, isUsual ? usually(watch) : watch)).close()
      } catch (error) {
        return said(error)
      }
      for (const end of ends) end()
      const groups = tally.groups().map(({ durations, ...rest }) => ({
        ...rest,
        times: [0.5, 0.95, 0.99].map((share) => durations.quantile(share)),
      }))
      return { groups, never: tally.neverCalled(), gate: tally.gate }
    }
    const sinceMs = Date.UTC(2026, 7, 1, 0, 0, 0, 60)
    for (const name of counted())
      for (const since of [undefined, sinceMs])
        expect({ name, found: await count(name, since, false) }).toEqual({
          name,
          found: await count(name, since, true),
        })
  })
})

const filters = [
  'needle',
  'tool:pay',
  'tool:pay needle',
  'needle or tool:find',
  'text:grüße',
  '"no such"',
  'timeout is:error',
  'needle -tool:pay',
  'is:answer needle',
  '-needle',
  '$.params.arguments.q~needle',
]

describe('search', () => {
  async function search(name: string, text: string, isSpotted: boolean): Promise<unknown> {
    const { filter } = parseFilter(text, { nowMs: 0 })
    const needle = needleOf(filter!.condition)
    const path = join(folder, name)
    const recording = { name, shortName: name, paths: [path], sizeBytes: 1, changedMs: 0 }
    const spotted = isSpotted && needle ? await spotLines(recording, needle) : undefined
    if (spotted?.isEmpty) return []
    const maker = await prepareSieve(text, 0, spotted && ((place) => spotted.has(place)))
    try {
      const watch = isSpotted ? maker.watch : usually(maker.watch)
      const { recordings, close } = await loadRecordings([path], folder, watch)
      const made = maker.make(recordings.map(({ fold }) => fold))
      const everything = (fold: Fold): Wanted => ({ ...made.wanted(fold), has: () => true })
      const sieve = isSpotted ? made : { keeps: made.keeps, wanted: everything }
      const found: unknown[] = []
      const findText = compileFindText(filter!.condition)
      for await (const row of mergedRows(recordings, sieve)) found.push(matchJson(recording, row, findText))
      await close()
      return found
    } catch (error) {
      return said(error)
    }
  }

  it.each(filters)('finds for %s what it finds where every line is read', async (text) => {
    let matches = 0
    for (const name of counted()) {
      const expected = await search(name, text, false)
      // A recording that cannot be read and holds nothing is not read.
      if (typeof expected === 'string') continue
      matches += (expected as unknown[]).length
      expect({ name, found: await search(name, text, true) }).toEqual({ name, found: expected })
    }
    expect(matches).toBeGreaterThan(0)
  })
})
