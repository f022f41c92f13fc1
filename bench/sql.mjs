// @ts-check
/**
 * SQL over 1,000,000 messages, in one recording and in a hundred: loading and queries, as a command and inside
 * `wiretape mcp`. The baselines are DuckDB with `read_json` on the same file, and a loop that parses each line.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { installWithDuckDb } from './lib/fleet-index.mjs'
import { makeLargeTape } from './lib/large-tape.mjs'
import { median } from './lib/statistics.mjs'

const [OURS, JSON_OF_DUCKDB, PARSED] = ['wiretape', 'read_json', 'JSON.parse']
const p99 = 'select tool, quantile_cont(latency_ms, 0.99) as p99_ms from messages group by tool'
const toolsInTape = 8

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, say }) {
  const messages = quick ? 100_000 : 1_000_000
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-sql-'))
  /** @type {string[]} */
  const problems = []
  try {
    const cli = installWithDuckDb(folder)
    const one = join(folder, 'one')
    const many = join(folder, 'many')
    const tape = makeTapes(one, 1, messages)
    makeTapes(many, 100, messages / 100)
    say('loading')
    const loads = {
      one: ask(cli, one, p99, problems),
      many: ask(cli, many, p99, problems),
      duckdb: bare(folder, duckdbLoads(cli, tape)),
      parsed: bare(folder, lineLoop(tape)),
    }
    say('asking')
    const start = bare(folder, duckdbStarts(cli))
    const commands = repeated(5, () => ask(cli, one, p99, problems))
    const [oneMs, manyMs] = [await served(cli, one), await served(cli, many)]
    return {
      lanes: [OURS, JSON_OF_DUCKDB, PARSED],
      compared: 'wiretape/read_json',
      measures: [
        {
          name: 'load and ask, one recording',
          unit: 's',
          values: {
            [OURS]: loads.one / 1_000,
            [JSON_OF_DUCKDB]: loads.duckdb / 1_000,
            [PARSED]: loads.parsed / 1_000,
          },
          ratio: loads.one / loads.duckdb,
        },
        { name: 'load and ask, 100 recordings', unit: 's', values: { [OURS]: loads.many / 1_000 } },
        { name: 'ask as a command', unit: 'ms', values: { [OURS]: commands, [JSON_OF_DUCKDB]: start } },
        { name: 'ask in wiretape mcp, one recording', unit: 'ms', values: { [OURS]: oneMs } },
        { name: 'ask in wiretape mcp, 100 recordings', unit: 'ms', values: { [OURS]: manyMs } },
      ],
      verdicts: [
        verdict('one recording loaded and asked in ≤ 3 s', loads.one, 3_000),
        verdict('100 recordings loaded and asked in ≤ 3 s', loads.many, 3_000),
        verdict('one recording asked in ≤ 50 ms in a running process', oneMs, 50),
        verdict('100 recordings asked in ≤ 50 ms in a running process', manyMs, 50),
      ],
      books: { problems },
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** @param {string} promise @param {number} ms @param {number} most */
function verdict(promise, ms, most) {
  return { promise, measured: `${Math.round(ms)} ms`, kept: ms <= most }
}

/** Writes `count` tapes and returns the first. @param {string} folder @param {number} count @param {number} messages */
function makeTapes(folder, count, messages) {
  const recordings = join(folder, 'wiretape/recordings')
  mkdirSync(recordings, { recursive: true })
  for (let i = 0; i < count; i += 1) makeLargeTape(join(recordings, `a${i}.jsonl`), messages)
  return join(recordings, 'a0.jsonl')
}

/**
 * Wall time of the whole command, in ms. @param {string} cli @param {string} data @param {string} sql @param {string[]}
 * problems
 */
function ask(cli, data, sql, problems) {
  const start = performance.now()
  const { stdout, stderr } = spawnSync(process.execPath, [cli, 'sql', sql, '--json'], {
    encoding: 'utf8',
    env: { ...process.env, XDG_DATA_HOME: data },
  })
  const ms = performance.now() - start
  if (JSON.parse(stdout || '[]').length !== toolsInTape) problems.push(`a wrong answer: ${stdout}${stderr}`)
  return ms
}

/** Median time of a running server's responses, in ms. @param {string} cli @param {string} data */
async function served(cli, data) {
  const client = new Client({ name: 'bench', version: '1' })
  const env = /** @type {Record<string, string>} */ ({ ...process.env, XDG_DATA_HOME: data })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [cli, 'mcp'], env, stderr: 'ignore' }),
  )
  const times = []
  for (let i = 0; i < 20; i += 1) {
    const start = performance.now()
    await client.callTool({ name: 'sql', arguments: { query: p99 } })
    times.push(performance.now() - start)
  }
  await client.close()
  return median(times)
}

/** Wall time of a whole program, in ms. @param {string} folder @param {string} program */
function bare(folder, program) {
  const file = join(folder, 'bare.mjs')
  writeFileSync(file, program)
  return repeated(3, () => {
    const start = performance.now()
    const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return performance.now() - start
  })
}

/** @param {number} times @param {() => number} measure */
function repeated(times, measure) {
  return median(Array.from({ length: times }, measure))
}

/** @param {string} cli */
function duckdbStarts(cli) {
  const library = pathToFileURL(join(dirname(cli), '../../../@duckdb/node-api/lib/index.js')).href
  return `import { DuckDBInstance } from ${JSON.stringify(library)}
const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
await connection.run('select 1')
`
}

/** @param {string} cli @param {string} tape */
function duckdbLoads(cli, tape) {
  return `${duckdbStarts(cli)}await connection.run("create table lines as select * from read_json('${tape}', format = 'newline_delimited', " +
  "columns = {t: 'VARCHAR', dir: 'VARCHAR', raw: 'JSON', id: 'VARCHAR', seq: 'BIGINT', us: 'BIGINT'})")
`
}

/** @param {string} tape */
function lineLoop(tape) {
  return `import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
let ids = 0
for await (const line of createInterface({ input: createReadStream(${JSON.stringify(tape)}) })) if (JSON.parse(line).raw?.id !== undefined) ids += 1
`
}
