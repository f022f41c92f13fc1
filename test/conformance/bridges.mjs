// @ts-check
/** The suite for servers, against a server over HTTP and against the same server on stdio behind a bridge. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { firstLine, start } from './actors.mjs'
import { countsOf, differences } from './checks.mjs'
import { withServer } from './fixture.mjs'
import { runSuite } from './servers.mjs'

const revisions = ['2025-11-25', '2026-07-28']
const script = resolve(import.meta.dirname, '../fixtures/servers/conformance/stdio.mjs')

/** What differs, and has to: by the start of its line. Nothing else may. */
const explained = [
  {
    start: 'server-sse-polling: ',
    why: 'a bridge keeps no events, so its streams have no ids and cannot be taken up again',
  },
  {
    start: 'server-sse-multiple-streams: server-sse-streams-functional ',
    why: 'an answer that nothing came before is sent as JSON',
  },
  {
    start: 'server-stateless: sep-2575-server-unsupported-version-error ',
    why: 'the SDK does not refuse a version on stdio once it has served another',
  },
  {
    start: 'server-stateless: sep-2575-http-server-unsupported-version-400 ',
    why: 'the same',
  },
]

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} folder For results and tapes.
 * @returns {Promise<string[]>} What is wrong.
 */
export async function testBridges(tools, folder) {
  const wrong = []
  for (const revision of revisions) {
    const place = join(folder, `bridge-${revision}`)
    mkdirSync(place, { recursive: true })
    const direct = await withServer((url) => runSuite(tools, url, revision, join(place, 'direct')))
    const tapes = join(place, 'tape')
    const options = ['--listen', '127.0.0.1:0', '--out', tapes, '--quiet', '--', process.execPath, script]
    const recorder = start(process.execPath, [tools.cli, 'record', ...options])
    const through = await runSuite(tools, await firstLine(recorder), revision, join(place, 'through'))
    recorder.child.kill('SIGTERM')
    const { code } = await recorder.ended
    const different = differences(direct.checks, through.checks)
    const unexplained = different.filter((line) => !explained.some((known) => line.startsWith(known.start)))
    console.log(`\nserver suite over a bridge, requirements ${revision}`)
    console.log(`  its own HTTP:          ${countsOf(direct.checks)}`)
    console.log(`  on stdio, by a bridge: ${countsOf(through.checks)}`)
    for (const { start: begin, why } of explained) {
      const count = different.filter((line) => line.startsWith(begin)).length
      if (count > 0) console.log(`  ${count} differences of ${begin}…: ${why}`)
    }
    wrong.push(...unexplained.map((line) => `bridge, ${revision}, difference: ${line}`))
    if (direct.checks.length === 0) wrong.push(`bridge, ${revision}: the suite checked nothing`)
    if (code !== 0) wrong.push(`bridge, ${revision}: the recorder ended with ${code}`)
    if (readdirSync(tapes).length !== 1) wrong.push(`bridge, ${revision}: there is not one tape`)
  }
  return wrong
}
