// @ts-check
/** The suite for servers, run on a server over HTTP and on the same server on stdio behind a bridge. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { firstLine, start } from './actors.mjs'
import { countsOf, differences } from './checks.mjs'
import { withServer } from './fixture.mjs'
import { runSuite } from './servers.mjs'

const revisions = ['2025-11-25', '2026-07-28']
const script = resolve(import.meta.dirname, '../fixtures/servers/conformance/stdio.mjs')

/**
 * Expected differences: by the start of the line, for each revision. Any other difference, or a missing one, is a
 * fault.
 */
/** @type {Readonly<Record<string, readonly { start: string, why: string }[]>>} */
const explained = {
  '2025-11-25': [
    {
      start: 'server-sse-polling: server-sse-disconnect-resume ',
      why: 'over HTTP its tool closes its own stream and is polled; a server on stdio has none to close',
    },
    { start: 'server-sse-polling: outgoing-request ', why: 'the same: nobody polls' },
    { start: 'server-sse-polling: incoming-response ', why: 'the same' },
    {
      start: 'server-sse-polling: incoming-sse-event ',
      why: 'the same: the answer comes on the first stream',
    },
  ],
  '2026-07-28': [
    {
      start: 'server-stateless: sep-2575-server-unsupported-version-error ',
      why: 'on stdio its SDK answers requests of any version once it has served one',
    },
    { start: 'server-stateless: sep-2575-http-server-unsupported-version-400 ', why: 'the same' },
  ],
}

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} folder For results and tapes.
 * @returns {Promise<string[]>} The faults.
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
    const known = explained[revision] ?? []
    const unexplained = different.filter((line) => !known.some(({ start: begin }) => line.startsWith(begin)))
    console.log(`\nserver suite over a bridge, requirements ${revision}`)
    console.log(`  its own HTTP:          ${countsOf(direct.checks)}`)
    console.log(`  on stdio, by a bridge: ${countsOf(through.checks)}`)
    for (const { start: begin, why } of known) {
      const lines = different.filter((line) => line.startsWith(begin))
      console.log(`  explained: ${why}`)
      for (const line of lines) console.log(`    ${line.replaceAll('\n', '\n    ')}`)
      if (lines.length === 0) wrong.push(`bridge, ${revision}: nothing differs any more in ${begin}`)
    }
    wrong.push(...unexplained.map((line) => `bridge, ${revision}, difference: ${line}`))
    if (direct.checks.length === 0) wrong.push(`bridge, ${revision}: the suite checked nothing`)
    if (code !== 0) wrong.push(`bridge, ${revision}: the recorder ended with ${code}`)
    if (readdirSync(tapes).length !== 1) wrong.push(`bridge, ${revision}: there is not one tape`)
  }
  return wrong
}
