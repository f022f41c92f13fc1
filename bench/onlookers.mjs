// @ts-check
/** The cost of attached viewers: round trips on stdio with none, and with three. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judgeBooks, root } from './lib/books.mjs'
import { createTrack } from './lib/lanes.mjs'
import { interleaved, percentiles } from './lib/measures.mjs'
import { pairedRatio } from './lib/statistics.mjs'

/** @typedef {import('./lib/lanes.mjs').Lane} Lane */
/** @typedef {import('./lib/measures.mjs').Measure<Lane>} Measure */

const echoServer = [join(root, 'bench/servers/echo-rpc.mjs')]
const onlookers = join(import.meta.dirname, 'lib/onlooker-process.mjs')
/** @type {readonly Lane[]} */
const LANES = ['bare pipe', 'wiretape', 'with 3 onlookers']

const FULL = { rounds: 15, small: 8000, large: 800 }
/** @type {typeof FULL} */
const QUICK = { rounds: 3, small: 1500, large: 200 }

/** @param {{ quick: boolean, cli: string, say: (line: string) => void }} options */
export async function run({ quick, cli, say }) {
  const plan = quick ? QUICK : FULL
  const home = mkdtempSync(join(tmpdir(), 'wiretape-bench-'))
  const before = process.env['XDG_DATA_HOME']
  // Recorders find their registry by this variable; a new folder contains no other captures.
  process.env['XDG_DATA_HOME'] = home
  const track = createTrack(cli)
  /** @type {Measure[]} */
  const measures = []
  try {
    for (const { size, sizeBytes, count } of [
      { size: '100 B', sizeBytes: 100, count: plan.small },
      { size: '100 kB', sizeBytes: 100_000, count: plan.large },
    ]) {
      say(`round trips, ${size}…`)
      const rounds = await interleaved(LANES, plan.rounds, async (lane) => {
        const { value } = await track.run(`round trip ${size}`, lane, echoServer, async (client) => {
          await client.pingPong({ count: Math.ceil(count / 4), sizeBytes })
          if (lane !== 'with 3 onlookers') return client.pingPong({ count, sizeBytes })
          const watching = spawn(process.execPath, [onlookers, join(home, 'wiretape/live'), '3'], {
            stdio: ['ignore', 'pipe', 'inherit'],
          })
          await once(watching.stdout, 'data')
          try {
            return await client.pingPong({ count, sizeBytes })
          } finally {
            watching.kill('SIGKILL')
          }
        })
        return value
      })
      for (const measure of percentiles(`round trip, ${size}`, 'µs', rounds, 'bare pipe')) {
        const { wiretape = [], 'with 3 onlookers': watched = [] } = measure.rounds ?? {}
        measures.push({ ...measure, ratio: pairedRatio(watched, wiretape) })
      }
    }
  } finally {
    track.close()
    if (before === undefined) delete process.env['XDG_DATA_HOME']
    else process.env['XDG_DATA_HOME'] = before
    rmSync(home, { recursive: true, force: true })
  }
  const verdicts = measures
    .filter(({ name }) => name.startsWith('p50'))
    .map(({ name, ratio = Number.NaN }) => ({
      promise: `${name}, three onlookers ≤ 1.25 × none`,
      measured: `${ratio.toFixed(2)} ×`,
      kept: ratio <= 1.25,
    }))
  const { books } = track
  return {
    lanes: LANES,
    compared: 'watched/not',
    measures,
    verdicts: [...verdicts, ...judgeBooks(books)],
    books,
  }
}
