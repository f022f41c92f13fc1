// @ts-check
/** The suite for clients, directly and behind the forward proxy: every verdict must be the same. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { start } from './actors.mjs'
import { countsOf, differences, readChecks } from './checks.mjs'

const revisions = ['2025-11-25', '2026-07-28']
/** Comparisons of one revision. */
const mostAttempts = 3
/** Beside the other fixtures, where it finds the project's version of the SDK. */
const client = resolve(import.meta.dirname, '../fixtures/clients/conformance.mjs')

/** Unscored scenarios that fail without the proxy, too: our client's SDK does not support them. */
const explained = ['auth/dpop', 'auth/dpop-nonce', 'auth/wif-jwt-bearer']

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} folder For results and tapes.
 * @returns {Promise<string[]>} The faults.
 */
export async function testForward(tools, folder) {
  const wrong = []
  for (const revision of revisions) {
    /** @type {string[]} */
    let found = []
    // On a busy machine connections break, with and without the proxy, so a differing revision is compared again.
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      found = await compare(tools, revision, folder, join(folder, `client-${revision}-${attempt}`))
      if (found.length === 0) break
    }
    wrong.push(...found)
  }
  return wrong
}

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} revision
 * @param {string} folder
 * @param {string} place For this comparison.
 */
async function compare(tools, revision, folder, place) {
  /** @type {string[]} */
  const wrong = []
  const suite = tools.packageFile('@modelcontextprotocol/conformance/dist/index.js')
  const tapes = join(place, 'tapes')
  mkdirSync(place, { recursive: true })
  /** @param {string} name @param {readonly string[]} before */
  const run = async (name, before) => {
    const results = join(place, name)
    mkdirSync(results)
    const command = `${tools.node} ${client}`
    const options = ['--command', command, '--requirements', revision, '--output-dir', results]
    const argv = [...before, tools.node, suite, 'client', ...options]
    const { code, out, err } = await start(argv[0] ?? '', argv.slice(1)).ended
    return { code, checks: readChecks(results), said: out + err }
  }
  const direct = await run('direct', [])
  const options = ['--forward', '--out', tapes, '--ca-dir', join(folder, 'ca'), '--']
  const through = await run('through', [process.execPath, tools.cli, 'record', ...options])

  // A check with the status INFO (one line a request) is no verdict, and depends on timing.
  const verdicts = (/** @type {import('./checks.mjs').Check[]} */ checks) =>
    checks.filter(({ status }) => status !== 'INFO')
  const different = differences(verdicts(direct.checks), verdicts(through.checks))
  const failed = direct.checks.filter(({ status }) => status === 'FAILURE')
  const records = readdirSync(tapes).flatMap((name) =>
    readFileSync(join(tapes, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
  const messages = records.filter(({ type }) => type === undefined)
  const tokens = records.filter(
    ({ type, requestBody }) => type === 'http' && /grant_type=/.test(requestBody ?? ''),
  )
  console.log(`\nclient suite, requirements ${revision}`)
  console.log(`  direct:  ${countsOf(direct.checks)}`)
  console.log(`  through: ${countsOf(through.checks)}`)
  console.log(
    `  ${readdirSync(tapes).length} tapes, ${messages.length} messages, ${tokens.length} requests for tokens`,
  )
  const gaps = records.filter(({ type }) => type === 'gap')
  if (gaps.length > 0) console.log(`  ${gaps.length} gaps: ${gaps[0].why}`)
  console.log(different.length === 0 ? '  no difference' : `  ${different.length} differences`)
  const names = [...new Set(failed.map(({ scenario }) => scenario))]
  if (names.length > 0) console.log(`  fails without us: ${names.join(', ')}`)

  wrong.push(...different.map((line) => `client, ${revision}, difference: ${line}`))
  for (const name of names)
    if (!explained.includes(name)) wrong.push(`client, ${revision}, fails without us: ${name}`)
  if (direct.checks.length === 0) wrong.push(`client, ${revision}: the suite checked nothing`)
  if (through.code !== direct.code)
    wrong.push(`client, ${revision}: it ended with ${through.code}, not ${direct.code}`)
  // The suite starts its own servers for each scenario, and each of them is recorded.
  if (tokens.length < 10)
    wrong.push(`client, ${revision}: only ${tokens.length} requests for tokens are on tapes`)
  for (const name of readdirSync(tapes)) {
    const lines = readFileSync(join(tapes, name), 'utf8')
    if (!/\{"t":"[^"]*","type":"end"[^\n]*\n$/.test(lines))
      wrong.push(`client, ${revision}: ${name} has no end`)
  }
  if (/"(access_token|code_verifier)":"(?!\[REDACTED\])/.test(JSON.stringify(records)))
    wrong.push(`client, ${revision}: a secret is on a tape`)
  return wrong
}
