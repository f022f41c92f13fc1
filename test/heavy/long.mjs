// @ts-check
/**
 * Slow tests: `*.long.test.ts` (browsers, terminals, real servers, floods, further cases of what starts processes), the
 * tests that go through millions of messages, and the properties at full length (`test/long.ts`).
 *
 * Usage: node test/heavy/long.mjs [--part=viewer|behaviour|others] [FILE…]
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
/** @type {Record<string, (name: string) => boolean>} */
const parts = {
  viewer: (name) => /^test\/(viewer\/|regressions\/viewer-)/.test(name),
  behaviour: (name) => name.startsWith('test/behaviour/'),
  others: (name) => !parts['viewer']?.(name) && !parts['behaviour']?.(name),
}
const { part, rest } = readArguments(process.argv.slice(2))
const isNamed = rest.some((word) => !word.startsWith('-'))
const chosen = isNamed ? rest : [...rest, ...files.filter(part)]
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

/** @param {string[]} words */
function readArguments(words) {
  const option = words.find((word) => word.startsWith('--part='))
  const part = option === undefined ? () => true : parts[option.slice('--part='.length)]
  if (part === undefined) throw new Error(`${option}: there are ${Object.keys(parts).join(' and ')}`)
  return { part, rest: words.filter((word) => word !== option) }
}
