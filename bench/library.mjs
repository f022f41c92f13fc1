// @ts-check
/** Many recordings, as hard links of one tape that the system has in memory: search where nothing matches; search and stats of one. */
import { spawn } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeLargeTape, needle } from './lib/large-tape.mjs'
import { watchResidentSet } from './lib/resident-set.mjs'

const OURS = 'wiretape'
const LEAST_MB_A_SECOND = 300
const MOST_BYTES = 250 * 1000 * 1000

/**
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ seconds: number, peakBytes: number, stdout: string }>}
 */
async function timed(argv, env) {
  const start = performance.now()
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const memory = watchResidentSet(child.pid ?? 0)
  let stdout = ''
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => (stdout += chunk.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  const { peakBytes } = memory.read()
  memory.stop()
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`)
  return { seconds: (performance.now() - start) / 1000, peakBytes, stdout }
}

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, cli, say }) {
  // One tape under many names: what is measured is the reading, not the making.
  const files = Number(process.env['BENCH_LIBRARY_FILES'] ?? (quick ? 4 : 42))
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
    const sizeBytes = makeLargeTape(first, 600_000)
    for (let i = 1; i < files; i += 1) linkSync(first, join(recordings, `a${i}.jsonl`))
    const megabytes = (sizeBytes * files) / 1e6
    say(`${files} recordings, ${Math.round(megabytes)} MB`)
    const env = { ...process.env, XDG_DATA_HOME: folder }
    const works = [
      { name: 'search, no match', args: ['search', 'xyzzy-nowhere'], proof: 'no matches in', all: true },
      {
        name: 'search, one recording',
        args: ['search', needle, '--in', first],
        proof: '1 match',
        all: false,
      },
      // Every message of these is taken apart: a few recordings tell what all would.
      { name: 'stats, one recording', args: ['stats', first], proof: '300,000 calls', all: false },
    ]
    for (const { name, args, proof, all } of works) {
      const { seconds, peakBytes, stdout } = await timed([cli, ...args], env)
      if (!stdout.includes(proof)) problems.push(`${name}: "${proof}" is missing in ${stdout.slice(-200)}`)
      const speed = (all ? megabytes : sizeBytes / 1e6) / seconds
      measures.push({ name, unit: 'MB/s', values: { [OURS]: speed } })
      measures.push({ name, unit: 'MB', values: { [OURS]: peakBytes / 1e6 } })
      if (all)
        verdicts.push({
          promise: `${name}: ≥ ${LEAST_MB_A_SECOND} MB/s`,
          measured: `${Math.round(speed)} MB/s`,
          kept: speed >= LEAST_MB_A_SECOND,
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
