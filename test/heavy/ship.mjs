// @ts-check
/**
 * `wiretape ship` to a folder, to S3 (npm `s3rver`) and to JetStream (`nats-server`, with TLS, an nkey and a JWT). It
 * is killed at random moments, the store is down for a while, and the recorder's disk is full. Every tape must be in the
 * store once, under the hash of its bytes, and no secret anywhere else.
 *
 * Usage: node test/heavy/ship.mjs [part of the name of a store, or "full disk"]
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { makeCredentials, makeTls } from './ship/credentials.mjs'
import { fullDisk } from './ship/full-disk.mjs'
import { startS3 } from './ship/s3-server.mjs'

const root = resolve(import.meta.dirname, '../..')
const cli = join(root, 'dist/bin/wiretape.js')
const folder = mkdtempSync(join(tmpdir(), 'wiretape-ship-test-'))
const { openStore } = await import(pathToFileURL(join(root, 'dist/ship/index.js')).href)
const s3Secret = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'
/** @type {string[]} */
const wrong = []
/** Output of wiretape in all runs. */
let printed = ''
/** Arguments of all observed wiretape processes. */
const argvs = new Set()
let checked = 0
/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set()

try {
  await main()
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
for (const line of wrong) console.log(`WRONG  ${line}`)
if (wrong.length > 0) console.log(printed.slice(-4_000))
console.log(wrong.length === 0 ? `${checked} checks hold` : `${wrong.length} of ${checked} are wrong`)
process.exitCode = wrong.length === 0 ? 0 : 1

async function main() {
  const tls = await makeTls(join(folder, 'tls'))
  const credentials = await makeCredentials(join(folder, 'credentials'))
  // All stores at the same time: each has processes and a data folder of its own.
  /** @type {Promise<void>[]} */
  const running = []
  running.push(
    target('folder', {
      address: join(folder, 'store'),
      env: {},
      start: () => Promise.resolve(() => Promise.resolve()),
    }),
  )
  const s3Port = await freePort()
  running.push(
    target('s3', {
      address: 's3://tapes/team-a',
      env: {
        AWS_ACCESS_KEY_ID: 'WIRETAPE',
        AWS_SECRET_ACCESS_KEY: s3Secret,
        AWS_ENDPOINT_URL: `http://127.0.0.1:${s3Port}`,
      },
      async start() {
        const server = await startS3({
          port: s3Port,
          directory: join(folder, 's3'),
          bucket: 'tapes',
          keyId: 'WIRETAPE',
          secret: s3Secret,
        })
        return () => server.close()
      },
    }),
  )
  for (const kind of /** @type {const} */ (['nkey', 'jwt'])) {
    const port = await freePort()
    const config = join(folder, `nats-${kind}.conf`)
    writeFileSync(
      config,
      `host: 127.0.0.1, port: ${port}\njetstream { store_dir: "${join(folder, `js-${kind}`)}" }\n` +
        `tls { cert_file: "${tls.cert}", key_file: "${tls.key}", ca_file: "${tls.ca}", verify: true }\n` +
        credentials[kind].config,
    )
    const own = kind === 'nkey' ? { NATS_NKEY: credentials.nkey.file } : { NATS_CREDS: credentials.jwt.file }
    running.push(
      target(`jetstream, ${kind}`, {
        address: `nats://localhost:${port}`,
        env: { ...own, NATS_CA: tls.ca, NATS_CERT: tls.clientCert, NATS_KEY: tls.clientKey },
        async start() {
          const server = spawn('nats-server', ['-c', config], { stdio: 'ignore' })
          children.add(server)
          await connects(port)
          return () =>
            new Promise((done) => {
              children.delete(server)
              server.once('exit', () => done(undefined))
              server.kill('SIGKILL')
            })
        },
      }),
    )
  }
  if ('full disk'.includes(process.argv[2] ?? ''))
    running.push(fullDisk({ folder: join(folder, 'full'), cli, holds, openStore }))
  await Promise.all(running)
  if (process.argv[2] === 'full disk') return
  const secrets = [s3Secret, ...credentials.secrets]
  for (const secret of secrets) {
    holds('no secret is printed', !printed.includes(secret))
    holds('no secret is an argument', ![...argvs].some((line) => line.includes(secret)))
    holds(
      'no secret is in the data of wiretape',
      spawnSync('grep', ['-rqF', secret, join(folder, 'data')]).status === 1,
    )
  }
  holds('arguments were looked at', argvs.size > 0)
  await latency()
}

/**
 * @param {string} name
 * @param {{ address: string, env: Record<string, string>, start: () => Promise<() => Promise<unknown>> }} store
 */
async function target(name, { address, env: own, start }) {
  if (!name.includes(process.argv[2] ?? '')) return
  const data = join(folder, 'data', name.replaceAll(/\W+/g, '-'))
  const recordings = join(data, 'wiretape/recordings')
  const env = { ...process.env, XDG_DATA_HOME: data, ...own }
  let stop = await start()
  // A flood in files of 200 kB, beside a recording that is killed.
  const recorder = wiretape(['record', '--quiet', '--max-bytes', '200kB', '--', 'cat'], env)
  const killed = wiretape(['record', '--quiet', '--', 'cat'], env)
  killed.child.stdin?.write('{"jsonrpc":"2.0","method":"killed"}\n')
  let shipper = follow()
  let kills = 0
  for (let round = 0; round < 12; round += 1) {
    for (let i = 0; i < 40; i += 1) recorder.child.stdin?.write(line(round * 40 + i))
    await setTimeout(Math.random() * 300)
    note(shipper.child)
    if (round % 2 === 0) {
      shipper.child.kill('SIGKILL')
      kills += 1
      await shipper.ended
      shipper = follow()
    }
    if (round === 5) await stop()
    if (round === 8) stop = await start()
  }
  recorder.child.stdin?.end()
  await recorder.ended
  killed.child.kill('SIGKILL')
  await killed.ended
  shipper.child.kill('SIGTERM')
  await shipper.ended
  // `ship` waits ten seconds before it ships a tape that was cut off.
  const deadline = Date.now() + 40_000
  let tapes = new Map()
  let marks = -1
  while (Date.now() < deadline) {
    const once = wiretape(['ship', '--to', address, '--once'], env)
    await once.ended
    tapes = tapesIn(recordings)
    marks = marksIn(join(data, 'wiretape/shipped'))
    if (marks === tapes.size) break
    await setTimeout(1_000)
  }
  holds(`${name}: every tape is marked`, marks === tapes.size && tapes.size > 5)
  const reader = await openStore(address, env)
  try {
    const objects = new Set()
    for await (const { key } of reader.list('segments/')) objects.add(key)
    for (const [hash, bytes] of tapes) {
      const key = `segments/${hash.slice(0, 2)}/${hash}`
      holds(`${name}: a tape is there`, objects.delete(`${key}.jsonl.gz`) && objects.delete(`${key}.json`))
      const stored = await all(reader.get(`${key}.jsonl.gz`))
      holds(`${name}: it is the bytes of the tape`, gunzipSync(stored).equals(bytes))
      const manifest = JSON.parse((await all(reader.get(`${key}.json`))).toString())
      const { at, length, from, bytes: size } = manifest.members.at(-1)
      const part = gunzipSync(await all(reader.get(`${key}.jsonl.gz`, { at, length })))
      holds(
        `${name}: its members stand where the manifest says`,
        part.equals(bytes.subarray(from, from + size)),
      )
    }
    holds(`${name}: nothing else is there`, objects.size === 0)
    if (reader.manager) {
      const { state } = await reader.manager.streams.info('WIRETAPE')
      holds(`${name}: every segment is announced once`, state.messages === tapes.size)
      await collect(name, reader, tapes, { address, env })
    }
  } finally {
    await reader.close()
    await stop()
  }
  const messages = [...tapes.values()].join('').match(/"method":"m\d+"/g) ?? []
  holds(`${name}: no message is lost or twice`, messages.length === 960 && new Set(messages).size === 480)
  console.log(`${name}: ${tapes.size} segments, ${kills} kills`)

  function follow() {
    return wiretape(['ship', '--to', address, '--follow', '--every', '50ms'], env)
  }
}

/**
 * Collects from the bus to S3 with the same credentials.
 *
 * @param {string} name
 * @param {any} bus
 * @param {Map<string, Buffer>} tapes
 * @param {{ address: string, env: NodeJS.ProcessEnv }} source
 */
async function collect(name, bus, tapes, { address, env: own }) {
  const server = await startS3({
    port: 0,
    directory: join(folder, 's3-collected'),
    bucket: 'collected',
    keyId: 'WIRETAPE',
    secret: s3Secret,
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.httpServer.address())
  const env = {
    ...own,
    AWS_ACCESS_KEY_ID: 'WIRETAPE',
    AWS_SECRET_ACCESS_KEY: s3Secret,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  }
  const to = `s3://collected/${name.replaceAll(/\W+/g, '-')}`
  const store = await openStore(to, env)
  try {
    const collector = wiretape(['collect', '--from', address, '--to', to, '--once'], env)
    note(collector.child)
    await collector.ended
    holds(`${name}: the collector ends with 0`, collector.child.exitCode === 0)
    const keys = new Set()
    for await (const { key } of store.list('')) keys.add(key)
    for (const hash of tapes.keys()) {
      const there = [
        `segments/${hash.slice(0, 2)}/${hash}.jsonl.gz`,
        `index/segments/${hash.slice(0, 2)}/${hash}`,
      ]
      holds(
        `${name}: a tape is collected to S3`,
        there.every((key) => keys.has(key)),
      )
    }
    holds(`${name}: nothing is dead`, ![...keys].some((key) => /^(?:dead|attempts)\//.test(key)))
    let left = 0
    for await (const _ of bus.list('segments/')) left += 1
    holds(`${name}: the bus is empty`, left === 0)
    await multipart(name, store)
  } finally {
    await store.close()
    await server.close()
  }
}

/**
 * Stores an object in several parts, which a small segment never needs.
 *
 * @param {string} name
 * @param {any} store
 */
async function multipart(name, store) {
  const bytes = randomBytes(17 * 1024 * 1024)
  holds(`${name}: S3 takes an object in parts`, (await store.put('large', bytes)) === 'stored')
  const range = { at: 8 * 1024 * 1024 - 10, length: 20 }
  const part = bytes.subarray(range.at, range.at + range.length)
  holds(`${name}: and gives its bytes back`, (await all(store.get('large'))).equals(bytes))
  holds(`${name}: and those across two parts`, (await all(store.get('large', range))).equals(part))
}

/** @param {number} i */
function line(i) {
  return `{"jsonrpc":"2.0","method":"m${i}","params":{"text":"${'x'.repeat(2_000 + (i % 7) * 1_000)}"}}\n`
}

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function wiretape(args, env) {
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: 'pipe' })
  children.add(child)
  const keep = (/** @type {Buffer} */ chunk) => {
    if (args[0] === 'ship') printed += chunk.toString()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', (chunk) => (printed += chunk.toString()))
  child.stdin.on('error', () => undefined)
  const ended = new Promise((done) => child.once('close', () => done(children.delete(child))))
  return { child, ended }
}

/** @param {import('node:child_process').ChildProcess} child */
function note({ pid }) {
  try {
    argvs.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    // The process has ended, or the system is not Linux.
  }
}

/** @param {string} recordings */
function tapesIn(recordings) {
  return new Map(
    readdirSync(recordings)
      .filter((file) => file.endsWith('.jsonl'))
      .map((file) => {
        const bytes = readFileSync(join(recordings, file))
        return [createHash('sha256').update(bytes).digest('hex'), bytes]
      }),
  )
}

/** @param {string} shipped */
function marksIn(shipped) {
  return existsSync(shipped) ? readdirSync(shipped).filter((file) => file.endsWith('.json')).length : 0
}

/** @param {AsyncIterable<Uint8Array>} chunks */
async function all(chunks) {
  const pieces = []
  for await (const chunk of chunks) pieces.push(chunk)
  return Buffer.concat(pieces)
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer()
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await new Promise((done) => server.close(done))
  return port
}

/** @param {number} port */
async function connects(port) {
  const { connect } = await import('node:net')
  const deadline = Date.now() + 20_000
  for (;;) {
    const is = await new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true))
      socket.once('error', () => done(false))
      socket.once('connect', () => socket.destroy())
    })
    if (is) return
    if (Date.now() > deadline) throw new Error('nats-server does not start')
    await setTimeout(50)
  }
}

/** Prints the round trip time through the recorder, alone and while segments are shipped. Not a check. */
async function latency() {
  const data = join(folder, 'data', 'latency')
  const env = { ...process.env, XDG_DATA_HOME: data }
  // A run to warm up the machine.
  await roundTrips(env)
  const alone = await roundTrips(env)
  const shipper = wiretape(['ship', '--to', join(folder, 'store-2'), '--follow', '--every', '50ms'], env)
  const beside = await roundTrips(env)
  shipper.child.kill('SIGTERM')
  await shipper.ended
  console.log(`p50 of a round trip: ${alone.toFixed(0)} µs alone, ${beside.toFixed(0)} µs while shipping`)
}

/** @param {NodeJS.ProcessEnv} env */
async function roundTrips(env) {
  const { child, ended } = wiretape(['record', '--quiet', '--max-bytes', '200kB', '--', 'cat'], env)
  const times = []
  const lines = child.stdout[Symbol.asyncIterator]()
  for (let i = 0; i < 1_500; i += 1) {
    const began = process.hrtime.bigint()
    child.stdin.write(line(i))
    for (let text = ''; !text.endsWith('\n');) text += (await lines.next()).value
    times.push(Number(process.hrtime.bigint() - began) / 1000)
  }
  child.stdin.end()
  await ended
  return times.slice(200).toSorted((a, b) => a - b)[650] ?? 0
}

/**
 * @param {string} what
 * @param {boolean} is
 */
function holds(what, is) {
  checked += 1
  if (!is && !wrong.includes(what)) wrong.push(what)
}
