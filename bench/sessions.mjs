// @ts-check
/** Session files compared with the tapes that they were made from. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeLargeTape } from './lib/large-tape.mjs'
import { sideBySide, within250MB } from './lib/side-by-side.mjs'
import { timed } from './lib/timed.mjs'

const TAPE = 'tape'
const SESSION = 'session file'
const MOST_TIMES = 2

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, cli, say }) {
  const messages = Number(process.env['BENCH_SESSION_MESSAGES'] ?? (quick ? 100_000 : 500_000))
  const rounds = quick ? 1 : 3
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-'))
  /** @type {import('./run.mjs').SuiteReport['measures'][number][]} */
  const measures = []
  /** @type {import('./run.mjs').SuiteReport['verdicts'][number][]} */
  const verdicts = []
  /** @type {string[]} */
  const problems = []
  try {
    const tape = join(folder, 'tape.jsonl')
    makeLargeTape(tape, messages)
    const out = join(folder, 'out')
    const works = [
      { name: 'inspect', args: (/** @type {string} */ file) => ['inspect', file] },
      ...['session-json', 'trace-v1'].map((to) => ({
        name: `convert to ${to}`,
        args: (/** @type {string} */ file) => ['convert', '--force', '--to', to, file, out],
      })),
    ]
    for (const layout of ['indented', 'compact']) {
      const session = join(folder, `${layout}.json`)
      await timed([cli, 'convert', ...(layout === 'compact' ? ['--compact'] : []), tape, session])
      const [tapeMb, sessionMb] = [tape, session].map((file) => Math.round(statSync(file).size / 1e6))
      say(`${messages} messages: a tape of ${tapeMb} MB, as a session file, ${layout}, ${sessionMb} MB`)
      for (const { name, args } of works) {
        const title = `${layout}, ${name}`
        const told = await sideBySide({
          rounds,
          title,
          lanes: [TAPE, SESSION],
          base: [cli, ...args(tape)],
          own: [cli, ...args(session)],
          mostTimes: MOST_TIMES,
          than: 'the tape',
        })
        measures.push(...told.measures)
        verdicts.push(told.verdict, within250MB(title, told.own.peakBytes))
        if (name === 'convert to trace-v1' && statSync(out).size !== statSync(tape).size)
          problems.push(`${layout}: the tape did not come back`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { lanes: [TAPE, SESSION], compared: 'session/tape', measures, verdicts, books: { problems } }
}
