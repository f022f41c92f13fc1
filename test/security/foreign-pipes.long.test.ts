/** Pipes that somebody else has put in our way. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leftOut, plainEnv, wiretape, type Run } from '../behaviour/run-cli.js'
import { createStage, server, type Stage } from '../behaviour/stage.js'

let stage: Stage
beforeEach(() => {
  stage = createStage()
})
afterEach(() => stage.close())

const hasRights = !leftOut(process.platform !== 'win32', 'rights of files need a POSIX system')
const cli = (...args: string[]): Promise<Run> =>
  wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env) })
const record = (...options: string[]): Promise<Run> =>
  cli('record', '--out', stage.out, ...options, '--', ...server('exit-with.mjs', '0'))

describe.skipIf(!hasRights)('a named pipe that nobody uses', () => {
  beforeEach(() => {
    expect(spawnSync('mkfifo', [stage.path('pipe')]).status).toBe(0)
    writeFileSync(
      stage.path('a.jsonl'),
      '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"t","command":["x"],"mcpTapVersion":"0"}\n',
    )
  })

  it.each([
    ['--session-file', () => record('--session-file', 'pipe')],
    ['--redact-file', () => record('--redact-file', 'pipe')],
    ['--rules', () => record('--rules', 'pipe')],
    ['--compare-file', () => cli('diff', 'a.jsonl', 'a.jsonl', '--compare-file', 'pipe')],
    ['--out', () => cli('record', '--out', 'pipe', '--', ...server('exit-with.mjs', '0'))],
    ['recover', () => cli('recover', 'pipe')],
  ])('ends %s with one line, and keeps nobody waiting', async (_, run) => {
    const { code, stderr } = await run()
    expect(code).toBeGreaterThan(0)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(/pipe/)
  })
})
