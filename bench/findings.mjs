// @ts-check
/** Rules over a large tape, compared with a loop that parses each line. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeRecording } from './lib/recording-files.mjs'
import { sideBySide } from './lib/side-by-side.mjs'

const BARE = 'readline + JSON.parse'
const OURS = 'wiretape'
const MOST_TIMES = 3

/** @param {string} file */
const works = (file) => [
  // The recording has findings; only the time is measured, so none of them may fail the run.
  { name: 'check, all rules', args: ['check', '--no-config', '--fail-on', 'safety/token-in-url', file] },
]

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, cli, say }) {
  const sizeBytes = Number(process.env['BENCH_CONVERT_MB'] ?? (quick ? 100 : 1000)) * 1_000_000
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-'))
  /** @type {import('./run.mjs').SuiteReport['measures'][number][]} */
  const measures = []
  /** @type {import('./run.mjs').SuiteReport['verdicts'][number][]} */
  const verdicts = []
  try {
    const file = join(folder, 'in.jsonl')
    const made = await writeRecording(file, 'trace-v1', sizeBytes)
    say(`${Math.round(made.sizeBytes / 1e6)} MB, ${made.messages} messages`)
    for (const { name, args } of works(file)) {
      const told = await sideBySide({
        rounds: quick ? 1 : 3,
        title: name,
        lanes: [BARE, OURS],
        base: [join(import.meta.dirname, 'lib/bare-lines.mjs'), file],
        own: [cli, ...args],
        mostTimes: MOST_TIMES,
        than: 'the bare loop',
      })
      measures.push(...told.measures)
      verdicts.push(told.verdict)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { lanes: [BARE, OURS], measures, verdicts, books: { problems: [] } }
}
