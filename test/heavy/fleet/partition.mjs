// @ts-check
/**
 * A partition that heals after a minute. Three network namespaces, each with a JetStream node, a recorder's folder with
 * `wiretape ship --follow`, and two with a collector. The first is cut off while tapes are finished on all three.
 * Afterwards every segment must be in the store once, and SQL must find every message, once.
 *
 * Usage, in namespaces of its own: unshare --user --map-root-user --net --mount node test/heavy/fleet/partition.mjs APP
 * APP is a folder with `node_modules/wiretape`; a file `ready` in it says that the installation is complete.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { prepareBus, writeNodeConfig } from './cluster.mjs'
import { startClock } from './clock.mjs'
import { makeTape } from './tape.mjs'

const app = process.argv[2] ?? ''
const cli = join(app, 'node_modules/wiretape/dist/bin/wiretape.js')
const partitionMs = 60_000
const deadlineMs = 240_000
const calls = 5
const folder = mkdtempSync(join(tmpdir(), 'wiretape-partition-'))
const store = join(folder, 'store')
const hosts = [0, 1, 2].map((i) => `10.9.0.1${i}`)
const clients = hosts.map((host) => `${host}:4222`)
const address = `nats://${clients.join(',')}`
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
const { eventually, until, say } = startClock(deadlineMs)
let tapes = 0
try {
  await main()
} finally {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
process.exit()

async function main() {
  makeNetwork()
  const routes = hosts.map((host) => `${host}:6222`)
  for (const i of [0, 1, 2]) inside(i, 'nats-server', '-c', writeNodeConfig(folder, i, { clients, routes }))
  const manager = await prepareBus(
    clients.map((at) => `nats://${at}`),
    eventually,
  )
  await until(() => existsSync(join(app, 'ready')), 'wiretape is installed')
  for (const i of [0, 1, 2]) wiretape(i, 'ship', '--to', address, '--follow', '--every', '500ms')
  const collectors = [0, 1].map((i) =>
    wiretape(i, 'collect', '--from', address, '--to', store, '--batch-age', '1s'),
  )
  finishTapes(20)
  await until(() => stored() > 10, 'segments are collected')

  network('link', 'set', 'v0', 'down')
  const cutMs = performance.now()
  say(`partition: host 0 is cut off, ${stored()} segments are in the store`)
  finishTapes(20)
  const before = stored()
  await until(() => stored() > before, 'the other two go on')
  say(`the other two go on: ${stored()} segments are in the store`)
  await setTimeout(partitionMs - (performance.now() - cutMs))
  network('link', 'set', 'v0', 'up')
  say(`healed after ${Math.round((performance.now() - cutMs) / 1_000)} s`)
  finishTapes(20)
  // By now `--follow` may pause for minutes between retries; a single `ship` does not.
  await Promise.all(hosts.map((_, i) => until(() => ships(i), `host ${i} ships`)))
  await until(
    () => stored() === tapes,
    () => `everything arrives: ${stored()} of ${tapes} segments`,
  )
  await until(async () => {
    const info = await manager.consumers.info('WIRETAPE', 'wiretape-collector').catch(() => undefined)
    return info !== undefined && info.num_pending === 0 && info.num_ack_pending === 0
  }, 'everything is acknowledged')
  for (const child of collectors) child.kill('SIGTERM')
  await until(() => collectors.every(({ exitCode }) => exitCode === 0), 'the collectors end')

  const sql = `select count(*) as messages, count(distinct payload) as payloads,
    count(distinct session) as sessions from messages`
  const { stdout, stderr } = spawnSync(process.execPath, [cli, 'sql', '--at', store, sql, '--json'], {
    encoding: 'utf8',
  })
  const [found] = stdout === '' ? [] : JSON.parse(stdout)
  const meant = tapes * calls * 2
  if (found?.messages !== meant || found.payloads !== meant || found.sessions !== tapes)
    throw new Error(`SQL finds ${JSON.stringify(found)} instead of ${meant} messages ${stderr}`)
  if (readdirSync(store).includes('dead')) throw new Error('there are dead letters')
  say(`SQL finds every message of ${tapes} segments, once`)
}

/** A bridge with a namespace for each host. The namespace of this process is on it, too. */
function makeNetwork() {
  mustRun('mount', '-t', 'tmpfs', 'tmpfs', '/run')
  network('link', 'set', 'lo', 'up')
  network('link', 'add', 'br0', 'type', 'bridge')
  network('addr', 'add', '10.9.0.1/24', 'dev', 'br0')
  network('link', 'set', 'br0', 'up')
  for (const [i, host] of hosts.entries()) {
    network('netns', 'add', `n${i}`)
    network('link', 'add', `v${i}`, 'type', 'veth', 'peer', 'name', 'e0', 'netns', `n${i}`)
    network('link', 'set', `v${i}`, 'master', 'br0', 'up')
    network('-n', `n${i}`, 'addr', 'add', `${host}/24`, 'dev', 'e0')
    network('-n', `n${i}`, 'link', 'set', 'e0', 'up')
    network('-n', `n${i}`, 'link', 'set', 'lo', 'up')
  }
}

/** @param {string[]} args */
function network(...args) {
  mustRun('ip', ...args)
}

/** @param {string} program @param {string[]} args */
function mustRun(program, ...args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
}

/** Tapes of sessions that end now, on each host. @param {number} count */
function finishTapes(count) {
  for (const i of hosts.keys()) {
    const recordings = join(folder, `host-${i}`, 'wiretape/recordings')
    mkdirSync(recordings, { recursive: true })
    for (let n = 0; n < count; n += 1, tapes += 1) {
      const name = `2026-08-0${1 + (tapes % 3)}T10-00-00-${String(tapes).padStart(3, '0')}Z-shop.jsonl`
      writeFileSync(join(recordings, name), makeTape(tapes, calls))
    }
  }
}

/** @param {number} host @param {string[]} args */
function wiretape(host, ...args) {
  return inside(host, process.execPath, cli, ...args)
}

/** @param {number} host */
async function ships(host) {
  const child = wiretape(host, 'ship', '--to', address, '--once')
  await once(child, 'exit')
  return child.exitCode === 0
}

/** @param {number} host @param {string[]} command */
function inside(host, ...command) {
  const child = spawn('ip', ['netns', 'exec', `n${host}`, ...command], {
    env: { ...process.env, XDG_DATA_HOME: join(folder, `host-${host}`) },
    stdio: ['ignore', 'ignore', process.env['FLEET_DEBUG'] ? 'inherit' : 'ignore'],
  })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

function stored() {
  try {
    return readdirSync(join(store, 'index/segments'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.length > 60,
    ).length
  } catch {
    return 0
  }
}
