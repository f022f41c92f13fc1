#!/usr/bin/env node
// @ts-check
/**
 * Other programs with and without wiretape between them: the official conformance suite, and popular clients. Exit code
 * 1 on any difference.
 *
 * Usage: node test/conformance/run.mjs [PART…]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolFailed } from '../../scripts/bootstrap.mjs'
import { endAll } from './actors.mjs'
import { testBridges } from './bridges.mjs'
import { testClients } from './clients.mjs'
import { testOwnMcp } from './own-mcp.mjs'
import { testSchemas } from './schemas.mjs'
import { testServers } from './servers.mjs'
import { testForward } from './forward.mjs'
import { installTools } from './tools.mjs'

/** @typedef {(tools: import('./tools.mjs').Tools, folder: string) => Promise<string[]>} Part */
/** @type {Readonly<Record<string, Part>>} */
const parts = {
  schemas: testSchemas,
  mcp: testOwnMcp,
  servers: testServers,
  bridges: testBridges,
  clients: testClients,
  forward: testForward,
}
/** The parts of a run without arguments. */
const usual = ['schemas', 'mcp', 'servers', 'bridges', 'clients']

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(parts, name))
if (unknown === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-conformance-'))
  try {
    const tools = installTools()
    const wrong = []
    for (const name of asked.length > 0 ? asked : usual) {
      wrong.push(...((await parts[name]?.(tools, folder)) ?? []))
    }
    console.log(
      wrong.length === 0 ? '\nall is the same with us and without us' : `\n${wrong.length} problems`,
    )
    for (const line of wrong) console.log(`- ${line}`)
    process.exitCode = wrong.length === 0 ? 0 : 1
    if (wrong.length === 0) rmSync(folder, { recursive: true, force: true })
    else console.log(`\nresults and tapes: ${folder}`)
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error
    console.error(error.message)
    process.exitCode = error.exitCode
  } finally {
    endAll()
  }
} else {
  console.error(`there is no part "${unknown}"; there are: ${Object.keys(parts).join(', ')}`)
  process.exitCode = 2
}
