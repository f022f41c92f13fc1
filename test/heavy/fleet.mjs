// @ts-check
/**
 * A fleet on one machine: three JetStream nodes, 1,000 recorders that ship generated tapes with the real shipping code,
 * two collectors. A node is killed and restarted, then a collector is killed. Afterwards every segment must be in the
 * store once, and SQL must find every message, once.
 *
 * Usage: node test/heavy/fleet.mjs [RECORDERS]
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openStore, shipSegments } from '../../dist/ship/index.js'
import { prepareBus, writeNodeConfig } from './fleet/cluster.mjs'
import { startClock } from './fleet/clock.mjs'
import { makeTape } from './fleet/tape.mjs'
import { installed } from './installed.mjs'

const duckdb = '@duckdb/node-api@1.5.6-r.1'
const nats = ['@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/obj']
const recorders = Number(process.argv[2] ?? 1_000)
const calls = 5
const lanes = 20
const deadlineMs = 280_000
const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'wiretape-fleet-test-'))
const app = join(folder, 'app')
const cli = join(app, 'node_modules/wiretape/dist/bin/wiretape.js')
const store = join(folder, 'store')
const env = { ...process.env, XDG_DATA_HOME: join(folder, 'data') }
const wiretape = installed(cli, env, folder)
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
/** @type {string[]} */
const wrong = []
const { eventually, until, say } = startClock(deadlineMs)
try {
  await main()
} finally {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
for (const line of wrong) console.log(`WRONG  ${line}`)
console.log(wrong.length === 0 ? 'nothing lost, nothing twice' : `${wrong.length} checks failed`)
process.exit(wrong.length === 0 ? 0 : 1)

async function main() {
  const partition = startPartition()
  install()
  const ports = await freePorts(6)
  const nodes = [0, 1, 2].map((number) => startNode(number, ports))
  const servers = ports.slice(0, 3).map((port) => `nats://127.0.0.1:${port}`)
  const address = `nats://${ports
    .slice(0, 3)
    .map((port) => `127.0.0.1:${port}`)
    .join(',')}`
  const manager = await prepareBus(servers, eventually)
  say('three nodes are a cluster')

  const tapes = makeTapes()
  const collectors = [0, 1].map(() => startCollector(address))
  let shipped = 0
  const after = (/** @type {number} */ share) => until(() => shipped >= recorders * share, 'shipping goes on')
  const shipping = shipAll(address, tapes, () => (shipped += 1))
  await after(0.3)
  nodes[2]?.kill('SIGKILL')
  say(`a node is killed, ${shipped} segments are shipped`)
  await after(0.5)
  const [one, other] = collectors
  const memory = [one, other].map((child) => mostMemory(child))
  one?.kill('SIGKILL')
  say(`a collector is killed, ${shipped} segments are shipped`)
  await after(0.7)
  startNode(2, ports)
  say(`the node is back, ${shipped} segments are shipped`)
  await shipping
  say('all is shipped')
  await until(async () => {
    const info = await manager.consumers.info('WIRETAPE', 'wiretape-collector').catch(() => undefined)
    return info !== undefined && info.num_pending === 0 && info.num_ack_pending === 0
  }, 'the other collector takes what is left')
  memory.push(mostMemory(other))
  other?.kill('SIGTERM')
  await until(() => other?.exitCode !== null, 'the collector ends')
  holds('the collector ends with 0', other?.exitCode === 0)
  say(`all is collected; memory of collectors at most ${Math.max(...memory)} MB`)

  const stored = readdirSync(join(store, 'segments'), { recursive: true, encoding: 'utf8' })
  holds(
    'every segment is in the store once',
    stored.filter((name) => name.endsWith('.gz')).length === recorders,
  )
  holds('with its manifest', stored.filter((name) => name.endsWith('.json')).length === recorders)
  holds('nothing is dead', !readdirSync(store).includes('dead'))
  const [counts] = ask(`select count(*) as messages, count(distinct session || '#' || seq) as apart,
    count(distinct session) as sessions, count(distinct host) as hosts, count(distinct payload) as payloads from messages`)
  const meant = recorders * calls * 2
  holds(
    `SQL finds every message, once: ${JSON.stringify(counts)}`,
    counts?.messages === meant &&
      counts.apart === meant &&
      counts.sessions === recorders &&
      counts.payloads === meant,
  )
  const [{ calls: found = 0 } = {}] = ask('select sum(calls)::int as calls from tools')
  holds('and every call with its answer', found === recorders * calls)
  const [row] = ask(
    "select recording, seq, payload from messages where kind = 'request' order by recording limit 1",
  )
  const shown = wiretape('inspect', '--at', store, `${row?.recording}#${row?.seq}`)
  holds(
    'inspect shows a message of it',
    shown.status === 0 && shown.stdout.includes(JSON.parse(row?.payload).params.arguments.mark),
  )
  say('SQL and inspect find everything')
  await partition
}

/**
 * Runs the test of a partition at the same time, since it mostly waits. It is skipped without the permission to create
 * network namespaces.
 *
 * @returns {Promise<void>}
 */
async function startPartition() {
  const own = ['--user', '--map-root-user', '--net', '--mount']
  const may = spawnSync('unshare', [...own, 'sh', '-c', 'mount -t tmpfs tmpfs /run && ip netns add n0'])
  if (may.status !== 0) return say('left out: the partition, which needs unshare, ip and network namespaces')
  const script = join(import.meta.dirname, 'fleet/partition.mjs')
  const child = spawn('unshare', [...own, '--kill-child', process.execPath, script, app], { stdio: 'pipe' })
  running.add(child)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  await once(child, 'close')
  running.delete(child)
  console.log(printed.replaceAll(/^/gm, '  '))
  holds('the partition heals', child.exitCode === 0)
}

function install() {
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{"private":true}')
  npmIn(root, 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder)
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  npmIn(app, 'install', '--silent', '--no-audit', '--no-fund', join(folder, `${packed}`))
  const missing = wiretape('collect', '--from', 'nats://127.0.0.1:1', '--to', store)
  holds(
    'says what to install',
    missing.status === 2 && /nats.*not installed.*npm install/i.test(missing.stderr),
  )
  npmIn(app, 'install', '--silent', '--no-audit', '--no-fund', duckdb, ...nats.map((name) => `${name}@3.4.0`))
  writeFileSync(join(app, 'ready'), '')
  say('installed')
}

/** @param {number} number @param {readonly number[]} ports */
function startNode(number, ports) {
  const local = ports.map((port) => `127.0.0.1:${port}`)
  const config = writeNodeConfig(folder, number, { clients: local.slice(0, 3), routes: local.slice(3) })
  return start('nats-server', ['-c', config])
}

/** A data folder for each recorder, with a finished tape. */
function makeTapes() {
  return Array.from({ length: recorders }, (_, i) => {
    const recordings = join(folder, 'recorders', `${i}`, 'recordings')
    mkdirSync(recordings, { recursive: true })
    writeFileSync(join(recordings, `2026-08-0${1 + (i % 3)}T10-00-00-000Z-shop.jsonl`), makeTape(i, calls))
    return recordings
  })
}

/** @param {string} address @param {readonly string[]} tapes @param {() => void} onShipped */
async function shipAll(address, tapes, onShipped) {
  const queue = tapes.values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const bus = await openStore(address, process.env)
      for (const recordings of queue) {
        await until(async () => {
          const { waiting } = await shipSegments({
            recordings,
            dataFolder: resolve(recordings, '..'),
            captures: async () => [],
            store: bus,
            target: address,
            encoding: 'gzip',
            version: '0.1.0',
          })
          return waiting === 0
        }, `a recorder ships ${recordings}`)
        onShipped()
      }
      await bus.close()
    }),
  )
}

/** @param {string} address */
function startCollector(address) {
  return start(process.execPath, [cli, 'collect', '--from', address, '--to', store, '--batch-age', '1s'])
}

/** @param {string} program @param {string[]} args */
function start(program, args) {
  const child = spawn(program, args, {
    env,
    stdio: ['ignore', 'ignore', process.env['FLEET_DEBUG'] ? 'inherit' : 'ignore'],
  })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

/** Peak memory of a process, in MB. @param {import('node:child_process').ChildProcess | undefined} child */
function mostMemory(child) {
  const [, kb = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child?.pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1_000)
}

/** @param {number} count */
async function freePorts(count) {
  const listeners = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)))
      return server
    }),
  )
  return listeners.map((server) => {
    const address = server.address()
    server.close()
    return typeof address === 'object' && address ? address.port : 0
  })
}

/** @param {string} sql @returns {Record<string, any>[]} */
function ask(sql) {
  const { stdout, stderr, status } = wiretape('sql', '--at', store, sql, '--json')
  if (status === 0) return JSON.parse(stdout)
  wrong.push(`${sql}: exit ${status} ${stderr}`)
  return []
}

/** @param {string} cwd @param {string[]} args */
function npmIn(cwd, ...args) {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
}

/** @param {string} what @param {boolean} is */
function holds(what, is) {
  if (!is) wrong.push(what)
}
