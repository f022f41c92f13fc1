// @ts-check
/** Compares the schemas of `protocol/schema` with those of the official suite. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../scripts/bootstrap.mjs'

/** @param {import('./tools.mjs').Tools} tools @returns {Promise<string[]>} The faults. */
export function testSchemas(tools) {
  const script = join(projectRoot, 'scripts/mcp-schemas.mjs')
  const source = tools.packageFile('@modelcontextprotocol/conformance/dist/index.js')
  const { status, stderr } = spawnSync(process.execPath, [script, source, '--check'], { encoding: 'utf8' })
  console.log(`\nschemas of the protocol: ${status === 0 ? 'as in the suite' : 'not as in the suite'}`)
  return Promise.resolve(status === 0 ? [] : [stderr.trim()])
}
