// @ts-check
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../dist/ship/index.js'
import { bareConsumer, eventually, freePort, messagesInSegment, shipOne } from './lib/fleet-bus.mjs'
import { growIndex, installWithDuckDb } from './lib/fleet-index.mjs'
import { median } from './lib/statistics.mjs'

/** `makeLargeTape` writes eight tools. */
const toolsInTape = 8
const p99 = `select day, tool, quantile_cont(latency_ms, 0.99) as p99_ms from messages where kind = 'result' group by all`

/**
 * Rate of a collector: segments and messages a second from a JetStream server into a folder. The baseline is a bare
 * consumer that downloads each segment, checks its hash and writes a file. Then the time of a query over an index of
 * 10,000,000 messages: copies of the collector's index, each a day later.
 *
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, cli, say }) {
  const segments = quick ? 20 : 200
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-fleet-'))
  const port = await freePort()
  const address = `nats://127.0.0.1:${port}`
  const server = spawn(
    'nats-server',
    ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', join(folder, 'nats')],
    {
      stdio: 'ignore',
    },
  )
  /** @type {string[]} */
  const problems = []
  try {
    const bus = await eventually(() => openStore(address, process.env))
    say(`shipping ${segments} segments`)
    for (let i = 0; i < segments; i += 1) await shipOne(folder, bus, address)
    say('a bare consumer')
    const bare = await bareConsumer(bus, join(folder, 'bare'))
    await bus.close()
    say('a collector')
    const target = join(folder, 'store')
    const start = performance.now()
    const { status, stderr } = spawnSync(
      process.execPath,
      [cli, 'collect', '--from', address, '--to', target, '--once'],
      {
        encoding: 'utf8',
      },
    )
    const own = { seconds: (performance.now() - start) / 1_000, segments: 0 }
    if (status !== 0) problems.push(stderr)
    own.segments = readdirSync(join(target, 'segments'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.gz'),
    ).length
    if (own.segments !== segments) problems.push(`${own.segments} of ${segments} segments are in the store`)
    if (bare.segments !== segments) problems.push(`${bare.segments} of ${segments} segments were written`)
    const days = quick ? 10 : 10_000_000 / (segments * messagesInSegment)
    say(`an index of ${(days * segments * messagesInSegment).toLocaleString('en')} messages`)
    const app = installWithDuckDb(folder)
    await growIndex(app, target, days)
    const asked = ask(app, target, p99)
    const queryMs = asked.ms - ask(app, target, 'select 1').ms
    if (asked.rows !== days * toolsInTape) problems.push(`the query has ${asked.rows} rows`)
    const rate = own.segments / own.seconds
    const bareRate = bare.segments / bare.seconds
    return {
      lanes: ['wiretape', 'bare'],
      compared: 'wiretape/bare',
      measures: [
        { name: 'segments', unit: '1/s', values: { wiretape: rate, bare: bareRate }, ratio: rate / bareRate },
        {
          name: 'messages',
          unit: '1/s',
          values: { wiretape: rate * messagesInSegment, bare: bareRate * messagesInSegment },
          ratio: rate / bareRate,
        },
        { name: 'p99 by tool and day: the query', unit: 'ms', values: { wiretape: queryMs } },
        { name: 'the whole command', unit: 'ms', values: { wiretape: asked.ms } },
      ],
      verdicts: [
        {
          promise: 'DuckDB over an index of 10,000,000 messages: p99 by tool and day in at most 1 s',
          measured: `${(queryMs / 1_000).toFixed(2)} s, ${(asked.ms / 1_000).toFixed(2)} s with the start of wiretape`,
          kept: queryMs <= 1_000,
        },
      ],
      books: { problems },
    }
  } finally {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Wall time of the whole command: the median of five runs. @param {string} cli @param {string} store @param {string}
 * sql
 */
function ask(cli, store, sql) {
  const times = []
  let rows = 0
  for (let i = 0; i < 5; i += 1) {
    const start = performance.now()
    const { stdout } = spawnSync(process.execPath, [cli, 'sql', '--at', store, sql, '--json'], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    times.push(performance.now() - start)
    rows = JSON.parse(stdout || '[]').length
  }
  return { ms: median(times), rows }
}
