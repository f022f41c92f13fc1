// @ts-check
/**
 * Many recordings, as hard links of one tape in the page cache: search without matches, search with one match in a
 * thousand messages, and stats, over all of them.
 */
import { spawn } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeLargeTape, needle, rare } from './lib/large-tape.mjs'
import { watchResidentSet } from './lib/resident-set.mjs'

const OURS = 'wiretape'
const MESSAGES = 600_000
const MOST_BYTES = 250 * 1000 * 1000

/** Makes a program print its processor time at its end: unlike wall time, other programs do not disturb it. */
const telling = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(3, JSON.stringify(process.cpuUsage())))',
)}`

/**
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ seconds: number, coreSeconds: number, peakBytes: number, stdout: string }>}
 */
async function timed(argv, env) {
  const start = performance.now()
  const child = spawn(process.execPath, ['--import', telling, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  })
  const memory = watchResidentSet(child.pid ?? 0)
  let stdout = ''
  let usage = ''
  child.stdout?.on('data', (/** @type {Buffer} */ chunk) => (stdout += chunk.toString()))
  child.stdio[3]?.on('data', (/** @type {Buffer} */ chunk) => (usage += chunk.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  const { peakBytes } = memory.read()
  memory.stop()
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`)
  const { user, system } = JSON.parse(usage)
  return {
    seconds: (performance.now() - start) / 1000,
    coreSeconds: (user + system) / 1e6,
    peakBytes,
    stdout,
  }
}

/**
 * @param {{ quick: boolean, cli: string, gigabytes?: number, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, cli, gigabytes = quick ? 1 : 10, say }) {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-'))
  /** @type {import('./run.mjs').SuiteReport['measures'][number][]} */
  const measures = []
  /** @type {import('./run.mjs').SuiteReport['verdicts'][number][]} */
  const verdicts = []
  /** @type {string[]} */
  const problems = []
  try {
    const recordings = join(folder, 'wiretape/recordings')
    mkdirSync(recordings, { recursive: true })
    const first = join(recordings, 'a0.jsonl')
    const sizeBytes = makeLargeTape(first, MESSAGES)
    // One tape under many names: reading is measured, not writing.
    const files = Math.max(1, Math.round((gigabytes * 1e9) / sizeBytes))
    for (let i = 1; i < files; i += 1) linkSync(first, join(recordings, `a${i}.jsonl`))
    const megabytes = (sizeBytes * files) / 1e6
    say(`${files} recordings, ${Math.round(megabytes)} MB`)
    const env = { ...process.env, XDG_DATA_HOME: folder }
    const works = [
      {
        name: 'search, no match',
        args: ['search', 'xyzzy-nowhere'],
        proof: 'no matches in',
        all: true,
        least: 300,
      },
      {
        name: 'search, one match in 1,000',
        args: ['search', rare],
        proof: `matches in ${files} of ${files} `,
        all: true,
        least: 150,
      },
      {
        name: 'search, one recording',
        args: ['search', needle, '--in', first],
        proof: '1 match',
        all: false,
      },
      {
        name: 'stats',
        args: ['stats'],
        proof: `${((MESSAGES / 2) * files).toLocaleString('en')} calls`,
        all: true,
        least: 150,
      },
    ]
    for (const { name, args, proof, all, least } of works) {
      const { seconds, coreSeconds, peakBytes, stdout } = await timed([cli, ...args], env)
      if (!stdout.includes(proof)) problems.push(`${name}: "${proof}" is missing in ${stdout.slice(-200)}`)
      const size = all ? megabytes : sizeBytes / 1e6
      const speed = size / coreSeconds
      measures.push({ name, unit: 'MB/s', values: { [OURS]: size / seconds } })
      measures.push({ name, unit: 'MB/s a core', values: { [OURS]: speed } })
      measures.push({ name, unit: 'MB', values: { [OURS]: peakBytes / 1e6 } })
      if (least !== undefined)
        verdicts.push({
          promise: `${name}: ≥ ${least} MB/s a core`,
          measured: `${Math.round(speed)} MB/s`,
          kept: speed >= least,
        })
      verdicts.push({
        promise: `${name}: ≤ ${MOST_BYTES / 1e6} MB of memory`,
        measured: `${Math.round(peakBytes / 1e6)} MB`,
        kept: peakBytes <= MOST_BYTES,
      })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { lanes: [OURS], measures, verdicts, books: { problems } }
}
