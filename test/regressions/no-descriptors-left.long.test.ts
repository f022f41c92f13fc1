import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { cli, useStage } from '../behaviour/stage.js'

const stage = useStage()

/** Limits around the program's need: from one at which Node can load its first file to one at which all files fit. */
const limits = Array.from({ length: 10 }, (_, i) => 19 + 2 * i)

interface Run {
  readonly status: number | null
  readonly stderr: string
}

function runWith(limit: number, argv: readonly string[]): Run {
  const script = `ulimit -n ${limit} && exec "$@"`
  return spawnSync('sh', ['-c', script, 'sh', ...argv], {
    encoding: 'utf8',
    // Node reads certificates while a program starts, and prints its own error when it cannot.
    env: { ...stage.env, NODE_EXTRA_CA_CERTS: undefined },
    cwd: stage.folder,
  })
}

/** Without runs in which Node fails before the program starts: no code of ours can print a better error. */
function runsOf(argv: readonly string[]): Run[] {
  const empty = stage.path('empty.mjs')
  writeFileSync(empty, '')
  return limits
    .filter((limit) => runWith(limit, [process.execPath, empty]).status === 0)
    .map((limit) => runWith(limit, argv))
    .filter(({ stderr }) => !stderr.includes(`'${cli}'`))
}

describe.skipIf(process.platform === 'win32')('too few files that may be open', () => {
  it.each([
    ['--version', () => [process.execPath, cli, '--version']],
    ['ls', () => [process.execPath, cli, 'ls']],
    ['record', () => stage.record(['cat'])],
  ] as const)('end %s in one line each time, not in a stack trace', (name, argv) => {
    const runs = runsOf(argv())
    for (const { status, stderr } of runs) {
      expect(stderr).toMatch(/^(?:wiretape: [^\n]*(?:too many open files|EMFILE)[^\n]*\n)*$/)
      // Only a recorder tries again: its thread died, so did the next one, and its tape has an end.
      expect(stderr.split('\n').length - 1).toBeLessThanOrEqual(name === 'record' ? 3 : 1)
      if (status !== 0) expect(stderr).toContain('ulimit -n')
    }
    // The others need hardly more than Node does.
    if (name === 'record') expect(runs.some(({ status }) => status !== 0)).toBe(true)
  })
})
