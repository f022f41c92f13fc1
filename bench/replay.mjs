// @ts-check
/**
 * The cost of a replay compared with the official client that makes the same calls, and the memory of a replay and of a
 * comparison.
 */
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { root } from './lib/books.mjs'
import { interleaved, toMeasure } from './lib/measures.mjs'
import { watchResidentSet } from './lib/resident-set.mjs'
import { median } from './lib/statistics.mjs'

const BARE = 'SDK client'
const lanes = /** @type {('wiretape' | 'SDK client')[]} */ (['wiretape', BARE])
const promisedShare = 0.7
const mostBytes = 250 * 1024 * 1024
const diffMessages = 100_000
const replayMessages = 200_000
const started = '"t":"2026-08-01T10:00:00.000Z"'

/**
 * Writes a tape of a client that calls a tool `calls` times.
 *
 * @param {string} file
 * @param {number} calls
 * @param {(call: number) => string} text the result of each call
 */
async function writeTape(file, calls, text) {
  const out = createWriteStream(file)
  let us = 0
  /** @param {string} dir @param {object} raw */
  const write = async (dir, raw) => {
    us += 50
    if (
      !out.write(
        `{${started},"us":${us},"dir":"${dir}","raw":${JSON.stringify({ jsonrpc: '2.0', ...raw })}}\n`,
      )
    )
      await new Promise((done) => out.once('drain', () => done(undefined)))
  }
  out.write(
    '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"bench","command":["bench"]}\n',
  )
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  await write('in', { id: 0, method: 'initialize', params })
  const serverInfo = { name: 'bench', version: '1' }
  await write('out', { id: 0, result: { ...params, capabilities: { tools: {} }, serverInfo } })
  await write('in', { method: 'notifications/initialized' })
  for (let call = 1; call <= calls; call++) {
    await write('in', { id: call, method: 'tools/call', params: { name: 'get', arguments: { call } } })
    await write('out', { id: call, result: { content: [{ type: 'text', text: text(call) }] } })
  }
  out.end(`{${started},"type":"end","exitCode":0,"durationMs":${Math.round(us / 1000)}}\n`)
  await new Promise((done) => out.once('close', () => done(undefined)))
}

/**
 * Runs the program and returns its peak memory and exit status.
 *
 * @param {string[]} args
 */
async function peakOf(args) {
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const watch = watchResidentSet(child.pid ?? 0)
  /** @type {number | null} */
  const code = await new Promise((done) => child.once('exit', done))
  watch.stop()
  return { code, peakBytes: watch.read().peakBytes }
}

/** @param {{ quick: boolean, cli: string, say: (line: string) => void }} options */
export async function run({ quick, cli, say }) {
  const { replay } = await import(pathToFileURL(join(root, 'dist/index.js')).href)
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-replay-'))
  /** @type {string[]} */
  const problems = []
  try {
    const calls = quick ? 1_000 : 12_000
    const tape = join(folder, 'calls.jsonl')
    await writeTape(tape, calls, (call) => `answer ${call} ${'x'.repeat(200)}`)
    const server = [process.execPath, cli, 'mock', tape]
    say(`replay: ${calls} calls against the mock`)
    const rates = await interleaved(lanes, quick ? 2 : 5, async (lane) => {
      // Both lanes make the same calls, one after the other, to a mock server that each starts for itself, in this
      // process. Both are timed from the response to `initialize` until the mock server has ended, which excludes its
      // start. The replay's other work is included: it reads and plans the recording, and compares each response.
      let begin = performance.now()
      if (lane === 'wiretape') {
        const { same, differences, messages } = await replay(tape, { command: server })
        if (!same) problems.push(`the mock did not answer as recorded: ${differences[0]}`)
        begin += messages[0].durationUs / 1000
      } else {
        const client = new Client({ name: 'bench', version: '1' })
        const [command = '', ...args] = server
        await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
        begin = performance.now()
        for (let call = 1; call <= calls; call++) await client.callTool({ name: 'get', arguments: { call } })
        await client.close()
      }
      return (2 * calls) / ((performance.now() - begin) / 1000)
    })
    const speed = toMeasure('replay against the mock', 'messages/s', rates, BARE)

    const messages = quick ? diffMessages / 10 : diffMessages
    say(`diff: two recordings of ${messages} messages, equal and different`)
    const files = ['a', 'b'].map((name) => join(folder, `${name}.jsonl`))
    for (const file of files)
      await writeTape(
        file,
        messages / 2,
        (call) => `${file === files[1] ? 'new' : 'old'} ${call} ${'x'.repeat(400)}`,
      )
    const [a = '', b = ''] = files
    const equal = await peakOf([cli, 'diff', a, a])
    const different = await peakOf([cli, 'diff', a, b, '--report', `json=${join(folder, 'r.json')}`])
    if (equal.code !== 0 || different.code !== 1)
      problems.push(`diff ended with ${equal.code} and ${different.code}`)

    const long = quick ? replayMessages / 10 : replayMessages
    say(`replay: the memory that ${long} messages need`)
    const longTape = join(folder, 'long.jsonl')
    await writeTape(longTape, long / 2, (call) => `answer ${call} ${'x'.repeat(200)}`)
    const replayed = await peakOf([cli, 'replay', longTape, '--', process.execPath, cli, 'mock', longTape])
    if (replayed.code !== 0) problems.push(`replay ended with ${replayed.code}`)
    const megabytes = (/** @type {number} */ bytes) => bytes / 1024 / 1024
    const memory = (/** @type {string} */ name, /** @type {number} */ peak) => ({
      name,
      unit: 'MB at its peak',
      values: { wiretape: megabytes(peak) },
    })
    const ratio = speed.ratio ?? 0
    const most = Math.max(equal.peakBytes, different.peakBytes)
    return {
      lanes,
      measures: [
        speed,
        memory('diff, equal', equal.peakBytes),
        memory('diff, all different', different.peakBytes),
        memory('replay', replayed.peakBytes),
      ],
      verdicts: [
        {
          promise: `replay ≥ ${promisedShare} × the SDK client's messages/s`,
          measured: `${ratio.toFixed(2)} × of ${Math.round(median(rates[BARE]))}/s`,
          kept: ratio >= promisedShare,
        },
        {
          promise: 'diff of two 100,000-message recordings ≤ 250 MB',
          measured: `${Math.round(megabytes(most))} MB`,
          kept: most <= mostBytes,
        },
        {
          promise: 'replay of 200,000 messages ≤ 250 MB',
          measured: `${Math.round(megabytes(replayed.peakBytes))} MB`,
          kept: replayed.peakBytes <= mostBytes,
        },
      ],
      books: { problems },
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
