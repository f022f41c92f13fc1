// @ts-check
/** Session files compared with the tapes that they were made from. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeLargeTape } from './lib/large-tape.mjs'
import { timed } from './lib/timed.mjs'

const TAPE = 'tape'
const SESSION = 'session file'
const MOST_TIMES = 2
const MOST_BYTES = 250 * 1000 * 1000

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
        const pairs = []
        for (let round = 0; round < rounds; round += 1) {
          const ofTape = await timed([cli, ...args(tape)])
          const ofSession = await timed([cli, ...args(session)])
          pairs.push({ ofTape, ofSession, times: ofSession.seconds / ofTape.seconds })
        }
        pairs.sort((a, b) => a.times - b.times)
        const middle = pairs[pairs.length >> 1]
        if (!middle) throw new Error('no round was measured')
        const { ofTape, ofSession, times } = middle
        const title = `${layout}, ${name}`
        measures.push({
          name: title,
          unit: 's',
          values: { [TAPE]: ofTape.seconds, [SESSION]: ofSession.seconds },
          ratio: times,
        })
        measures.push({
          name: `${title}: memory`,
          unit: 'MB',
          values: { [TAPE]: ofTape.peakBytes / 1e6, [SESSION]: ofSession.peakBytes / 1e6 },
        })
        verdicts.push({
          promise: `${title} <= ${MOST_TIMES} times the tape`,
          measured: `${times.toFixed(2)} times`,
          kept: times <= MOST_TIMES,
        })
        verdicts.push({
          promise: `${title} <= 250 MB resident`,
          measured: `${Math.round(ofSession.peakBytes / 1e6)} MB`,
          kept: ofSession.peakBytes <= MOST_BYTES,
        })
        if (name === 'convert to trace-v1' && statSync(out).size !== statSync(tape).size)
          problems.push(`${layout}: the tape did not come back`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { lanes: [TAPE, SESSION], compared: 'session/tape', measures, verdicts, books: { problems } }
}
