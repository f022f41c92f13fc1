// @ts-check
/**
 * The cost of rules that never apply: recording without rules, with fifty rules that match no message, and with the
 * rules of findings.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judgeBooks, root } from './lib/books.mjs'
import { createTrack } from './lib/lanes.mjs'
import { interleaved, percentiles } from './lib/measures.mjs'
import { pairedRatio } from './lib/statistics.mjs'

/** @typedef {import('./lib/lanes.mjs').Lane} Lane */
/** @typedef {import('./lib/measures.mjs').Measure<Lane>} Measure */

const echoServer = [join(root, 'bench/servers/echo-rpc.mjs')]
const RULES = 50
/** @type {readonly Lane[]} */
const LANES = ['wiretape', 'with 50 rules', 'with findings']

const FULL = { rounds: 15, small: 8000, medium: 4000 }
/** @type {typeof FULL} */
const QUICK = { rounds: 3, small: 1500, medium: 800 }

/** Fifty filters of usual kinds; one in five searches the text of messages. */
function rulesFile() {
  const filters = [
    (/** @type {number} */ n) => `method:tools/call tool:tool-${n}`,
    (/** @type {number} */ n) => `method:nothing-${n}/* or prompt:${n}`,
    (/** @type {number} */ n) => `dir:out status:error code:${n}`,
    (/** @type {number} */ n) => `path:$.params.arguments.n${n}`,
    (/** @type {number} */ n) => `resource:~/x${n}$/ size:>1MB`,
  ]
  const rules = Array.from({ length: RULES }, (_, n) => ({
    name: `rule ${n}`,
    when: filters[n % filters.length]?.(n) ?? '',
    drop: true,
  }))
  return JSON.stringify({ rules })
}

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 */
export async function run({ quick, cli, say }) {
  const plan = quick ? QUICK : FULL
  const file = join(root, 'build/bench/fifty-rules.json')
  const track = createTrack(cli, ['--rules', file])
  writeFileSync(file, rulesFile())
  /** @type {Measure[]} */
  const measures = []
  try {
    for (const { size, sizeBytes, count } of [
      { size: '200 B', sizeBytes: 200, count: plan.small },
      { size: '2 kB', sizeBytes: 2000, count: plan.medium },
    ]) {
      say(`round trips, ${size}…`)
      const rounds = await interleaved(LANES, plan.rounds, async (lane) => {
        const { value } = await track.run(`round trip ${size}`, lane, echoServer, async (client) => {
          await client.pingPong({ count: Math.ceil(count / 4), sizeBytes })
          return client.pingPong({ count, sizeBytes })
        })
        return value
      })
      for (const measure of percentiles(`round trip, ${size}`, 'µs', rounds, 'wiretape')) {
        const { wiretape = [], 'with 50 rules': ruled = [] } = measure.rounds ?? {}
        measures.push({ ...measure, ratio: pairedRatio(ruled, wiretape) })
      }
    }
  } finally {
    track.close()
  }
  const verdicts = measures
    .filter(({ name }) => name.startsWith('p50'))
    .map(({ name, ratio = Number.NaN }) => ({
      promise: `${name}, 50 rules that never match ≤ 1.10 × without`,
      measured: `${ratio.toFixed(2)} ×`,
      kept: ratio <= 1.1,
    }))
  const { books } = track
  return {
    lanes: LANES,
    compared: 'with/without',
    measures,
    verdicts: [...verdicts, ...judgeBooks(books)],
    books,
  }
}
