import { spawnSync } from 'node:child_process'
import { ensureBuilt } from '../scripts/bootstrap.mjs'

/** Runs once, before all tests: behaviour tests start the built CLI, so it must exist and be up to date. */
export function setup(): void {
  ensureBuilt()
  checkNode()
}

/** A run for another version of Node names that version; with a wrong PATH the run would test the wrong one. */
function checkNode(): void {
  const expected = process.env['WIRETAPE_EXPECT_NODE']
  if (expected === undefined) return
  const child = spawnSync('node', ['-v'], { encoding: 'utf8' }).stdout.trim()
  console.log(`tests on node ${process.version}, child processes on node ${child}`)
  for (const version of [process.version, child]) {
    if (!version.startsWith(`v${expected}.`)) throw new Error(`expected Node ${expected}, got ${version}`)
  }
}
