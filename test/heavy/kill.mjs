// @ts-check
/**
 * Kills the recorder with SIGKILL at random moments during traffic, and compares the tape with the messages that its
 * client sent and received.
 *
 * Usage: node test/heavy/kill.mjs [--runs N] [--seed N] [--only RUN] [--parallel N] [--cli FILE]
 *
 * Half of the kills fall into the first 400 ms after the start of the process (some before there is a tape), half into
 * the 400 ms after the first echo. Prints the seed and exits with code 1 when a tape broke a promise; `--seed S --only
 * RUN` repeats one run, as far as timing allows. Needs a POSIX system.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { killOnce } from './kill-once.mjs'
import { checkTape } from './kill-check.mjs'

const root = resolve(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    parallel: { type: 'string', default: '2' },
    cli: { type: 'string', default: join(root, 'dist/bin/wiretape.js') },
  },
})
const seed = Number(values.seed)
const runs = Number(values.runs)
const cli = resolve(values.cli)
/** Every 20th killed tape is recovered and read again. */
const RECOVER_EVERY = 20
/** Number of violations that are printed, and whose files are kept. */
const MAX_SHOWN = 10

/** A small seeded generator (mulberry32): numbers in [0, 1). @param {number} state */
function createRandom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const totals = {
  runs: 0,
  /** Runs in which the tape lacks messages that were due, without another violation. */
  late: 0,
  /** Runs with any other violation. */
  wrong: 0,
  withoutTape: 0,
  emptyTapes: 0,
  tornTapes: 0,
  messages: 0,
  required: 0,
  recovered: 0,
  /** Largest age of a missing message: time in ms from its echo to the kill. */
  oldestMissingMs: 0,
}
/** @type {string[]} */
const violations = []
const folder = mkdtempSync(join(tmpdir(), 'wiretape-kill-'))

/** @param {number} run */
async function oneRun(run) {
  const random = createRandom(seed * 1_000_003 + run)
  const out = join(folder, `run-${run}`)
  const killed = await killOnce({ cli, out, random })
  const recover = run % RECOVER_EVERY === 0
  const { problems, tape } = await checkTape({ cli, out, killed, recover })

  totals.runs++
  totals.withoutTape += Number(tape.state === 'none')
  totals.emptyTapes += Number(tape.state === 'empty')
  totals.tornTapes += Number(tape.torn)
  totals.messages += tape.messages
  totals.required += tape.required
  totals.recovered += Number(tape.recovered)
  totals.oldestMissingMs = Math.max(totals.oldestMissingMs, tape.oldestMissingMs)
  totals.late += Number(tape.late && problems.length === 1)
  totals.wrong += Number(problems.length > (tape.late ? 1 : 0))
  if (problems.length === 0 || violations.length >= MAX_SHOWN) rmSync(out, { recursive: true, force: true })
  else violations.push(`run ${run} (${killed.summary}): ${problems.join('; ')}`)
  if (totals.runs % 100 === 0)
    console.log(`  ${totals.runs} runs, ${totals.late} late, ${totals.wrong} wrong`)
}

async function main() {
  if (!existsSync(cli)) throw new Error(`${cli} is not there: run npm run build first`)
  if (!(runs > 0) || Number.isNaN(seed)) throw new Error('--runs and --seed take numbers')
  const start = performance.now()
  const queue =
    values.only === undefined ? Array.from({ length: runs }, (_, run) => run) : [Number(values.only)]
  console.log(`Killing the recorder ${queue.length} times, seed ${seed}`)
  const worker = async () => {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      await oneRun(run)
    }
  }
  await Promise.all(Array.from({ length: Number(values.parallel) }, worker))

  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  console.log(
    `${totals.runs} kills in ${seconds} s: ${totals.withoutTape} before there was a tape, ${totals.emptyTapes} empty, ` +
      `${totals.tornTapes} torn in the last line, ${totals.recovered} recovered; ` +
      `${totals.messages} messages on the tapes, ${totals.required} of them were due; ` +
      `the oldest one missing was seen ${totals.oldestMissingMs.toFixed(0)} ms before the kill; ` +
      `${totals.late} tapes late, ${totals.wrong} wrong`,
  )
  // A busy machine may give the recorder no processor for 100 ms, so a few late tapes are tolerated. Wrong ones never
  // are.
  const lateTolerated = Math.floor(totals.runs / 100)
  if (totals.wrong === 0 && totals.late <= lateTolerated) {
    rmSync(folder, { recursive: true, force: true })
    return
  }
  for (const violation of violations) console.error(`VIOLATION ${violation}`)
  console.error(`seed ${seed}; what was left is in ${folder}`)
  process.exitCode = 1
}

await main().catch((problem) => {
  console.error(
    `The run failed (seed ${seed}): ${problem instanceof Error ? problem.stack : String(problem)}`,
  )
  process.exitCode = 1
})
