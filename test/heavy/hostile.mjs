// @ts-check
/**
 * Hostile messages of every shape that can grow, over stdio and over HTTP. For each of them every byte must pass, the
 * recording thread must live, later messages must be recorded, and the memory must stay bounded.
 *
 * Usage: node test/heavy/hostile.mjs [--megabytes N] [--only TEXT] [--cli FILE]
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { endAll, firstLine, start } from '../conformance/actors.mjs'
import { heads, lines, streams } from './hostile/shapes.mjs'

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
    cli: { type: 'string', default: resolve(import.meta.dirname, '../../dist/bin/wiretape.js') },
  },
})
const size = Number(values.megabytes) * 1024 * 1024
const server = join(import.meta.dirname, 'hostile/server.mjs')
/** Normal messages after each hostile one. */
const after = 5
/** @type {string[]} */
const problems = []

/** @param {object} shapes */
const chosen = (shapes) => Object.keys(shapes).filter((name) => name.includes(values.only))

/** @param {number} id */
const ping = (id) => ({ jsonrpc: '2.0', id, method: 'ping' })

/**
 * @param {string} name
 * @param {(folder: string) => Promise<{ asked: number[], code: number | null, wanted: number, err: string }>} run
 */
async function lane(name, run) {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-hostile-'))
  const beganMs = performance.now()
  try {
    const { asked, code, wanted, err } = await run(folder)
    if (code !== wanted) problems.push(`${name}: it ended with ${code}, not ${wanted}`)
    if (/a new thread replaced it|recording stops here/.test(err)) problems.push(`${name}: ${err}`)
    check(name, folder, new Set(asked))
  } finally {
    rmSync(folder, { recursive: true, force: true })
    console.log(`${name}: ${Math.round(performance.now() - beganMs)} ms`)
  }
}

/**
 * Checks that every request and response is on the tape, or that a gap reports missing messages.
 *
 * @param {string} name
 * @param {string} folder
 * @param {ReadonlySet<number>} asked
 */
function check(name, folder, asked) {
  const seen = new Map()
  let lost = 0
  const tapes = readdirSync(folder)
  for (const tape of tapes) {
    const bytes = readFileSync(join(folder, tape))
    let last = ''
    for (let at = 0; at < bytes.length;) {
      const end = bytes.indexOf(0x0a, at)
      const head = bytes.toString('utf8', at, Math.min(end, at + 400))
      if (end - at < 100_000) {
        last = bytes.toString('utf8', at, end)
        const line = JSON.parse(last)
        if (line.type === 'gap') lost += line.lost
        const { id } = line.raw ?? {}
        if (asked.has(id)) seen.set(id, (seen.get(id) ?? 0) + 1)
      } else if (!head.startsWith('{'))
        problems.push(`${name}: a line of the tape begins with ${head.slice(0, 40)}`)
      at = end + 1
    }
    if (!last.includes('"type":"end"')) problems.push(`${name}: ${tape} has no end`)
  }
  if (tapes.length !== 1) problems.push(`${name}: ${tapes.length} tapes`)
  let missing = 0
  for (const id of asked) missing += 2 - (seen.get(id) ?? 0)
  if (missing > lost) problems.push(`${name}: ${missing} messages are missing, and ${lost} are told`)
  if (lost > 0) console.log(`  ${name}: ${lost} messages were lost, and told`)
}

/**
 * Reads a stream piece by piece.
 *
 * @param {AsyncIterable<Buffer>} stream
 * @returns {(length: number) => Promise<Buffer>} The next bytes; fewer at the end.
 */
function reader(stream) {
  const chunks = stream[Symbol.asyncIterator]()
  /** @type {Buffer[]} */
  let held = []
  let heldBytes = 0
  return async (length) => {
    while (heldBytes < length) {
      const { value, done } = await chunks.next()
      if (done) break
      held.push(value)
      heldBytes += value.length
    }
    const all = Buffer.concat(held)
    held = [all.subarray(length)]
    heldBytes = held[0]?.length ?? 0
    return all.subarray(0, length)
  }
}

/** @param {string} folder */
async function overStdio(folder) {
  const args = [values.cli, 'record', '--out', folder, '--quiet', '--', process.execPath, server]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: 300_000 })
  const complaint = buffer(child.stderr)
  const ended = new Promise((done) => child.once('close', done))
  const read = reader(child.stdout)
  /** @type {number[]} */
  const asked = []

  /** @param {object | undefined} params @param {string} name */
  async function ask(params, name, before = '') {
    const id = 1_000_000 + asked.length
    asked.push(id)
    child.stdin.write(`${JSON.stringify({ ...ping(id), params })}\n`)
    const wanted = Buffer.from(`${before}{"jsonrpc":"2.0","id":${id},"result":{}}\n`)
    const came = await read(wanted.length)
    if (!came.equals(wanted)) throw new Error(`stdio, ${name}: its client got something else`)
  }

  for (const shape of chosen(lines)) {
    await ask({ shape, size }, shape, `${lines[shape]?.(size)}\n`)
    for (let n = 0; n < after; n += 1) await ask(undefined, shape)
  }
  // Shapes that once ended the recording thread.
  for (const [shape, large] of /** @type {const} */ ([
    ['secrets in objects', 22_000_000],
    ['noise of secrets', 59_000_000],
  ])) {
    if (chosen(lines).includes(shape)) await ask({ shape, size: large }, shape, `${lines[shape]?.(large)}\n`)
  }
  await ask({ stderr: true, size }, 'stderr')
  await ask(undefined, 'the last')
  child.stdin.end()
  const code = await ended
  const err = (await complaint).toString().replaceAll(/(password=x )+\n/g, '')
  return { asked, code, wanted: 3, err }
}

/** @param {string} folder */
async function overHttp(folder) {
  const upstream = start(process.execPath, [server, 'http'])
  const recorder = start(process.execPath, [
    values.cli,
    'record',
    '--url',
    await firstLine(upstream),
    '--out',
    folder,
    '--quiet',
  ])
  const url = await firstLine(recorder)
  const agent = new http.Agent({ keepAlive: true })
  /** @param {object} body @param {string} path @returns {Promise<Buffer>} */
  const post = (body, path = '') =>
    new Promise((done, failed) => {
      const options = {
        method: 'POST',
        agent,
        maxHeaderSize: 512 * 1024,
        headers: { 'content-type': 'application/json' },
      }
      const request = http.request(
        url + path,
        options,
        (response) => void buffer(response).then(done, failed),
      )
      request.on('error', failed).end(JSON.stringify(body))
    })
  const asked = []
  let id = 1_000_000
  for (const [group, shapes] of Object.entries({ lines, streams, heads, chunks: { 'of one byte': 0 } })) {
    for (const shape of chosen(shapes)) {
      const many = group === 'chunks' ? 200_000 : size
      const got = await post({ ...ping(0), params: { group, shape, size: many } })
      const wanted =
        group === 'lines' ? lines[shape]?.(size) : group === 'streams' ? streams[shape]?.(size) : undefined
      if (wanted !== undefined && !got.equals(Buffer.from(wanted)))
        problems.push(`HTTP, ${shape}: its client got something else`)
      for (let n = 0; n < after; n += 1) {
        id += 1
        await post(ping(id))
        asked.push(id)
      }
    }
  }
  await post(ping(0), `?${'a=b&'.repeat(50_000)}`)
  agent.destroy()
  recorder.child.kill('SIGTERM')
  const { code, err } = await recorder.ended
  return { asked, code, wanted: 0, err }
}

try {
  await lane('stdio', overStdio)
  await lane('HTTP', overHttp)
} finally {
  endAll()
}
for (const problem of problems) console.error(problem.slice(0, 500))
console.log(problems.length === 0 ? 'every shape passed, and is on the tape' : `${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
