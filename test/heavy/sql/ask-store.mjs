// @ts-check
/**
 * The recordings of a machine in an S3 server: shipped, collected, queried with SQL and inspected, with the store as
 * the only copy.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { startS3 } from '../ship/s3-server.mjs'
import { lookInBrowser } from './look-in-browser.mjs'
import { identity } from '../../fixtures/identity.mjs'

const secret = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'
const address = 's3://tapes/fleet/all'

/**
 * @param {{
 *   folder: string, recordings: string, cli: string, env: NodeJS.ProcessEnv, holds: (what: string, is: boolean) => void,
 * }} given
 */
export async function askStore({ folder, recordings, cli, env: given, holds }) {
  const port = await freePort()
  const keys = { AWS_ACCESS_KEY_ID: 'WIRETAPE', AWS_SECRET_ACCESS_KEY: secret }
  const env = { ...given, ...keys, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` }
  // A data folder without recordings: only the store has them.
  const elsewhere = { ...env, XDG_DATA_HOME: join(folder, 'elsewhere') }
  const server = await startS3({
    port,
    directory: join(folder, 's3'),
    bucket: 'tapes',
    keyId: keys.AWS_ACCESS_KEY_ID,
    secret,
  })
  /** @type {string[]} Requests for bytes of segments, with their range. */
  const reads = []
  server.httpServer.prependListener('request', ({ method, url, headers }) => {
    if (method === 'GET' && url?.endsWith('.jsonl.gz')) reads.push(headers.range ?? 'all')
  })
  try {
    writeLongTape(join(recordings, 'long.jsonl'))
    const shipped = await run(['ship', '--to', address], env)
    holds(`s3: ships (${shipped.stderr})`, shipped.status === 0)
    const collect = ['collect', '--from', address, '--to', address, '--once', '--json']
    // Two collectors at once: each segment must be in the index once.
    const collected = await Promise.all([run(collect, env), run(collect, env)])
    holds(
      's3: two collectors end',
      collected.every(({ status }) => status === 0),
    )
    holds('s3: a third finds nothing', (await run(collect, env)).stdout === '')

    const meant = tapes(recordings)
    const rows = await ask('select recording, seq, payload from messages order by recording, seq')
    holds('s3: every message is there once', rows.length === [...meant.values()].flat().length)
    let exact = 0
    for (const [hash, payloads] of meant) {
      const own = rows.filter(({ recording }) => recording === hash)
      if (own.length === payloads.length && own.every(({ payload }, i) => payload === payloads[i])) exact += 1
    }
    holds('s3: payloads are those of the tapes', exact === meant.size && exact > 2)

    const [long = ''] = [...meant].find(([, payloads]) => payloads.length >= 4_000) ?? []
    reads.length = 0
    const [one] = await ask(`select payload from messages where recording = '${long}' and seq = 3000`)
    holds(
      's3: one payload is read by range',
      reads.length === 1 && /^bytes=[1-9]\d*-\d+$/.test(reads[0] ?? ''),
    )
    reads.length = 0
    const shown = await run(['inspect', '--at', address, `${long.slice(0, 12)}#3000`, '--jsonl'], elsewhere)
    const { sequence, payload } = JSON.parse(shown.stdout || '{}')
    holds('s3: inspect shows one message', sequence === 3_000 && JSON.stringify(payload) === one?.payload)
    holds('s3: inspect reads the segment once', reads.join() === 'all')
    const none = await run(['inspect', '--at', address, 'ffffffffffff'], elsewhere)
    holds('s3: an unknown segment is named', none.status === 2 && none.stderr.includes('ffffffffffff'))

    await lookInBrowser({ address, cli, env: elsewhere, meant, long, reads: () => reads.splice(0), holds })

    const wrongKey = { ...elsewhere, AWS_ACCESS_KEY_ID: 'NOBODY' }
    for (const args of [['sql', '--at', address, 'select 1'], ['inspect', '--at', address, long], collect]) {
      const { status, stderr } = await run(args, wrongKey)
      holds(
        `s3: ${args[0]} with a wrong key fails in one line`,
        status === 2 && /status 403/.test(stderr) && stderr.trim().split('\n').length <= 2,
      )
      holds('s3: no secret is printed', !stderr.includes(secret))
    }
    rmSync(join(recordings, 'long.jsonl'))
    const all = [shipped, ...collected, shown, none].map(({ stdout, stderr }) => stdout + stderr).join('')
    holds('s3: no secret is printed', !all.includes(secret))
  } finally {
    await server.close()
  }

  /** @param {string} sql @returns {Promise<Record<string, any>[]>} */
  async function ask(sql) {
    const { stdout, stderr, status } = await run(['sql', '--at', address, sql, '--json'], elsewhere)
    holds(`s3: ${sql} ${stderr}`, status === 0)
    return status === 0 ? JSON.parse(stdout) : []
  }

  /** @param {string[]} args @param {NodeJS.ProcessEnv} environment */
  async function run(args, environment) {
    const child = spawn(process.execPath, [cli, ...args], { env: environment, cwd: folder })
    const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended(child)])
    return { stdout: out, stderr: err, status: child.exitCode }
  }
}

/** A tape of several members, which are read by range. @param {string} path */
function writeLongTape(path) {
  mkdirSync(join(path, '..'), { recursive: true })
  const session = 'a1b2c3d4-0000-4000-8000-000000000000'
  const own = { ...identity, session }
  const lines = [
    {
      v: 1,
      type: 'meta',
      startedAt: '2026-08-01T10:00:00.000Z',
      label: 'long',
      command: ['server'],
      mcpTapVersion: 'wiretape 0.1.0',
      wiretape: own,
    },
    ...Array.from({ length: 4_000 }, (_, seq) => ({
      t: '2026-08-01T10:00:01.000Z',
      dir: 'in',
      raw: { jsonrpc: '2.0', method: `m${seq}`, params: { text: `${seq}`.repeat(100) } },
      id: `00000000-0000-4000-8000-${String(seq).padStart(12, '0')}`,
      seq,
      us: seq * 10,
    })),
    { type: 'end', t: '2026-08-01T10:00:02.000Z', exitCode: 0, messages: 4_000 },
  ]
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
}

/** Payloads of each finished tape, by its hash. @param {string} recordings @returns {Map<string, string[]>} */
function tapes(recordings) {
  return new Map(
    readdirSync(recordings).map((name) => {
      const bytes = readFileSync(join(recordings, name))
      const payloads = bytes
        .toString()
        .split('\n')
        .filter((line) => line.includes('"raw":'))
        .map((line) => JSON.stringify(JSON.parse(line).raw))
      return [createHash('sha256').update(bytes).digest('hex'), payloads]
    }),
  )
}

/** @param {NodeJS.ReadableStream} stream */
async function textOf(stream) {
  let text = ''
  for await (const chunk of stream) text += chunk
  return text
}

/** @param {import('node:child_process').ChildProcess} child */
function ended(child) {
  return new Promise((done) => child.once('close', done))
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => done(port))
    })
  })
}
