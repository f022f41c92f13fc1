// @ts-check
/**
 * What takes its time: `*.long.test.ts` (browsers, terminals, real servers, whole floods), the tests that go through
 * millions of messages, and the properties at full length (`test/long.ts`).
 *
 * Usage: node test/heavy/long.mjs [FILE…]
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test', name))
  .filter(
    (name) => name.endsWith('.long.test.ts') || readFileSync(join(root, name), 'utf8').includes("/long.js'"),
  )
const chosen = process.argv.length > 2 ? process.argv.slice(2) : files
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  ['run', '--testTimeout=120000', ...chosen],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, WIRETAPE_LONG: '1' },
  },
)
process.exitCode = status ?? 1
