// @ts-check
/**
 * Measures the promises of the docs, all lanes side by side in one run.
 *
 * Usage: node bench/run.mjs [SUITE…] [--quick] [--gb N] [--cli FILE]
 *
 * Each suite prints a table and a verdict per promise, and writes build/bench/SUITE.json. Exit code 1 means that
 * messages were lost or a run failed. A missed promise is printed as MISS and does not change the exit code.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './lib/books.mjs'
import { table } from './lib/table.mjs'

/**
 * The report of a suite: a table with a column per lane, and verdicts on promises.
 *
 * @typedef {object} SuiteReport
 * @property {readonly string[]} lanes
 * @property {string} [compared] The lanes of the ratios; wiretape/bare if absent.
 * @property {readonly { name: string, unit: string, values: Readonly<Record<string, number | undefined>>, ratio?: number }[]} measures
 * @property {readonly { promise: string, measured: string, kept: boolean }[]} verdicts
 * @property {{ problems: readonly string[] }} books
 */

/** @typedef {{ run(options: { quick: boolean, cli: string, gigabytes?: number, say: (line: string) => void }): Promise<SuiteReport> }} Suite */

// With it, Node reads all certificates of a file at every start, which takes half as long again.
delete process.env['NODE_EXTRA_CA_CERTS']

/** @type {Record<string, () => Promise<Suite>>} */
const SUITES = {
  stdio: () => import('./stdio.mjs'),
  frames: () => import('./frames.mjs'),
  http: () => import('./http.mjs'),
  redact: () => import('./redact.mjs'),
  viewer: () => import('./viewer.mjs'),
  convert: () => import('./convert.mjs'),
  sessions: () => import('./sessions.mjs'),
  rules: () => import('./rules.mjs'),
  onlookers: () => import('./onlookers.mjs'),
  replay: () => import('./replay.mjs'),
  library: () => import('./library.mjs'),
  findings: () => import('./findings.mjs'),
  fleet: () => import('./fleet.mjs'),
  sql: () => import('./sql.mjs'),
}

/** @param {number | undefined} value */
function shown(value) {
  if (value === undefined) return ''
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
}

/**
 * @param {string} name
 * @param {{ quick: boolean, cli: string, gigabytes?: number }} options
 * @param {object} machine
 * @returns {Promise<boolean>} False if messages were lost or a run failed.
 */
async function runSuite(name, { quick, ...options }, machine) {
  const start = performance.now()
  const suite = await SUITES[name]?.()
  if (suite === undefined)
    throw new Error(`There is no suite ${name}: choose of ${Object.keys(SUITES).join(', ')}`)
  const startedAt = new Date().toISOString()
  const report = await suite.run({ quick, ...options, say: (line) => console.log(`  ${line}`) })
  const tookMs = Math.round(performance.now() - start)

  const rows = report.measures.map(({ name, unit, values, ratio }) => [
    name,
    unit,
    ...report.lanes.map((lane) => shown(values[lane])),
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
  ])
  console.log(`\n${table([[name, '', ...report.lanes, report.compared ?? 'wiretape/bare'], ...rows])}\n`)
  const verdicts = report.verdicts.map(({ promise, measured, kept }) => [
    promise,
    measured,
    kept ? 'ok' : 'MISS',
  ])
  console.log(`${table([['promise', 'measured', ''], ...verdicts])}\n`)
  for (const problem of report.books.problems) console.log(`WRONG ${problem}`)

  const file = join(root, `build/bench/${name}.json`)
  mkdirSync(join(root, 'build/bench'), { recursive: true })
  writeFileSync(
    file,
    `${JSON.stringify({ suite: name, startedAt, tookMs, quick, machine, ...report }, null, 2)}\n`,
  )
  console.log(`${relative(process.cwd(), file)}, after ${(tookMs / 1000).toFixed(0)} s`)
  return report.books.problems.length === 0
}

const usage = `Usage: npm run bench -- [SUITE…] [--quick] [--gb N] [--cli FILE]
--gb: size of the recordings that search and stats go through (library), 10 without it
Suites: ${Object.keys(SUITES).join(', ')}; all of them where none is named`

/**
 * @param {string} problem
 * @returns {never}
 */
function refuse(problem) {
  console.error(`bench: ${problem}\n${usage}`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        gb: { type: 'string' },
        cli: { type: 'string', default: join(root, 'dist/bin/wiretape.js') },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const unknown = positionals.find((name) => !(name in SUITES))
if (unknown !== undefined) refuse(`there is no suite ${unknown}`)
const gigabytes = values.gb === undefined ? undefined : Number(values.gb)
if (gigabytes !== undefined && !(gigabytes > 0)) refuse(`--gb ${values.gb} is no size`)

const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryBytes: totalmem(),
  /** Load of the machine in the minute before, in cores; always 0 on Windows. */
  load: loadavg()[0] ?? 0,
}
const memoryGb = (machine.memoryBytes / 1024 ** 3).toFixed(0)
console.log(
  `node ${machine.node}, ${machine.platform}, ${machine.cores} cores (${machine.cpu}), ${memoryGb} GB, load ${machine.load.toFixed(1)}`,
)
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(SUITES)) {
    const size = gigabytes === undefined ? {} : { gigabytes }
    const options = { quick: values.quick, cli: resolve(values.cli), ...size }
    const nothingLost = await runSuite(name, options, machine)
    if (!nothingLost) process.exitCode = 1
  }
} catch (problem) {
  console.error(`The bench failed: ${problem instanceof Error ? problem.message : String(problem)}`)
  process.exitCode = 1
}
