// @ts-check
/**
 * Many clients at once through one recorder of an HTTP server: every response must reach its client, and the tape must
 * agree.
 *
 * Usage: node test/heavy/http-load.mjs [--clients N] [--calls N] [--cli FILE]
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { endAll, firstLine, start } from '../conformance/actors.mjs'
import { watchResidentSet } from '../../bench/lib/resident-set.mjs'
import { runClient } from './load/client.mjs'
import { checkLoadTape } from './load/tape.mjs'

/** Memory limit of an HTTP recorder. */
const mostBytes = 300 * 1024 * 1024
const shown = 10

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    calls: { type: 'string', default: '50' },
    cli: { type: 'string', default: resolve(import.meta.dirname, '../../dist/bin/wiretape.js') },
  },
})
const clients = Number(values.clients)
const calls = Number(values.calls)
const folder = mkdtempSync(join(tmpdir(), 'wiretape-load-'))

try {
  const server = start(process.execPath, [join(import.meta.dirname, 'load/server.mjs')])
  const upstream = await firstLine(server)
  const recorder = start(process.execPath, [
    values.cli,
    'record',
    '--url',
    upstream,
    '--out',
    folder,
    '--quiet',
  ])
  const url = await firstLine(recorder)
  const memory = watchResidentSet(recorder.child.pid ?? 0)
  const beginMs = performance.now()
  const ends = await Promise.allSettled(Array.from({ length: clients }, (_, n) => runClient(url, n, calls)))
  const seconds = (performance.now() - beginMs) / 1000
  const { peakBytes } = memory.read()
  memory.stop()
  recorder.child.kill('SIGTERM')
  const { code, err } = await recorder.ended

  const tapes = readdirSync(folder)
  const { messages, problems } = await checkLoadTape(join(folder, tapes[0] ?? ''), clients, calls)
  for (const end of ends) if (end.status === 'rejected') problems.push(String(end.reason))
  if (code !== 0 || err !== '') problems.push(`the recorder ended with ${code}: ${err}`)
  if (peakBytes > mostBytes) problems.push(`the recorder had ${Math.round(peakBytes / 1e6)} MB in memory`)

  console.log(
    `${clients} clients, ${calls} calls each, in ${seconds.toFixed(1)} s: ${messages} messages on the tape, ` +
      `at most ${Math.round(peakBytes / 1e6)} MB in memory`,
  )
  for (const problem of problems.slice(0, shown)) console.log(`- ${problem}`)
  if (problems.length > shown) console.log(`- and ${problems.length - shown} more`)
  process.exitCode = problems.length === 0 ? 0 : 1
  if (problems.length === 0) rmSync(folder, { recursive: true, force: true })
  else console.log(`tape: ${folder}`)
} finally {
  endAll()
}
