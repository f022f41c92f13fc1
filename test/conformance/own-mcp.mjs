// @ts-check
/** The suite for servers, run on `wiretape mcp`: every check must pass that needs no fixture tools. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { firstLine, start } from './actors.mjs'
import { runSuite } from './servers.mjs'

/**
 * Required scenarios of each revision: lifecycle, ping, listing, transport and rebinding. @type
 * {Readonly<Record<string, readonly string[]>>}
 */
const needed = {
  '2025-11-25': [
    'dns-rebinding-protection',
    'ping',
    'prompts-list',
    'resources-list',
    'server-initialize',
    'server-session-lifecycle',
    'server-sse-multiple-streams',
    'server-sse-polling',
    'tools-list',
  ],
  '2026-07-28': [
    'caching',
    'dns-rebinding-protection',
    'http-header-validation',
    'prompts-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'server-stateless',
    'tools-list',
  ],
}
/** A check in one of them that needs a tool of the suite's own server. */
const wantsFixture = /^Not testable: /

/**
 * @param {import('./tools.mjs').Tools} tools
 * @param {string} folder For results.
 * @returns {Promise<string[]>} The faults.
 */
export async function testOwnMcp(tools, folder) {
  const wrong = []
  for (const [revision, scenarios] of Object.entries(needed)) {
    const place = join(folder, `mcp-${revision}`)
    mkdirSync(join(place, 'data'), { recursive: true })
    const server = start(process.execPath, [tools.cli, 'mcp', '--listen', '127.0.0.1:0'], {
      env: { ...process.env, XDG_DATA_HOME: join(place, 'data') },
    })
    const url = await firstLine(server)
    const { checks } = await runSuite(tools, url, revision, join(place, 'results'))
    server.child.kill('SIGTERM')
    await server.ended
    const failed = checks.filter(({ status }) => status === 'FAILURE')
    const asked = new Set(checks.map(({ scenario }) => scenario))
    const left = [...new Set(failed.map(({ scenario }) => scenario))].filter(
      (name) => !scenarios.includes(name),
    )
    console.log(`\nwiretape mcp, requirements ${revision}`)
    console.log(`  ${scenarios.length} scenarios of lifecycle, listing and transport`)
    console.log(
      `  ${left.length} want tools, prompts or features of the suite's own server: ${left.join(' ')}`,
    )
    for (const { scenario, name, why } of failed)
      if (scenarios.includes(scenario) && !wantsFixture.test(why))
        wrong.push(`wiretape mcp, ${revision}: ${scenario}: ${name}: ${why}`)
    for (const scenario of scenarios)
      if (!asked.has(scenario)) wrong.push(`wiretape mcp, ${revision}: the suite has no ${scenario}`)
  }
  return wrong
}
