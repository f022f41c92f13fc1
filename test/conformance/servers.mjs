// @ts-check
/** The suite for servers, run on a server that passes it, directly and through the recorder. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { start } from './actors.mjs'
import { countsOf, differences, readChecks } from './checks.mjs'
import { withServer } from './fixture.mjs'
import { startRecorder } from './recorder.mjs'

const revisions = ['2025-11-25', '2026-07-28']

/** Scenarios that may fail without the recorder, by the start of their name, with the reason. No other may fail. */
const explained = [
  { start: 'tasks-', why: 'an extension that is not scored, and that the SDK of the server does not have' },
]

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} folder For results and tapes.
 * @returns {Promise<string[]>} The faults.
 */
export async function testServers(tools, folder) {
  const wrong = []
  for (const revision of revisions) {
    const place = join(folder, `server-${revision}`)
    mkdirSync(place, { recursive: true })
    const direct = await withServer((url) => runSuite(tools, url, revision, join(place, 'direct')))
    /** @type {Awaited<ReturnType<Awaited<ReturnType<typeof startRecorder>>['stop']>> | undefined} */
    let recording
    const through = await withServer(async (upstream) => {
      const recorder = await startRecorder(tools.cli, upstream, join(place, 'tape'))
      const found = await runSuite(tools, recorder.url, revision, join(place, 'through'))
      recording = await recorder.stop()
      return found
    })
    const { messages = 0, problems = [] } = recording ?? {}
    const different = differences(direct.checks, through.checks)

    console.log(`\nserver suite, requirements ${revision}`)
    console.log(`  direct:  ${countsOf(direct.checks)}`)
    console.log(`  through: ${countsOf(through.checks)}; ${messages} messages on the tape`)
    for (const { start, why } of explained) {
      const failed = direct.checks.filter(
        (check) => check.status === 'FAILURE' && check.scenario.startsWith(start),
      )
      if (failed.length > 0) console.log(`  ${failed.length} failing checks of ${start}*: ${why}`)
    }
    console.log(different.length === 0 ? '  no difference' : `  ${different.length} differences`)

    const unexplained = direct.checks.filter(
      ({ status, scenario }) =>
        status === 'FAILURE' && !explained.some(({ start }) => scenario.startsWith(start)),
    )
    wrong.push(
      ...different.map((line) => `${revision}, difference: ${line}`),
      ...unexplained.map(
        ({ scenario, name, why }) => `${revision}, fails without us: ${scenario}: ${name}: ${why}`,
      ),
      ...problems.map((problem) => `${revision}: ${problem}`),
    )
    if (direct.checks.length === 0) wrong.push(`${revision}: the suite checked nothing: ${direct.said}`)
    if (direct.code !== 0) wrong.push(`${revision}: the suite ended with ${direct.code} without us`)
    if (through.code !== direct.code)
      wrong.push(`${revision}: the suite ended with ${through.code} through us`)
  }
  return wrong
}

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} url
 * @param {string} revision
 * @param {string} results
 */
export async function runSuite({ node, packageFile }, url, revision, results) {
  mkdirSync(results)
  const suite = packageFile('@modelcontextprotocol/conformance/dist/index.js')
  const args = [suite, 'server', '--url', url, '--requirements', revision, '--output-dir', results]
  const { code, out, err } = await start(node, args).ended
  return { code, checks: readChecks(results), said: (out + err).slice(-500) }
}
