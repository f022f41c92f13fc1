/** Each wrong command line gets one line that names the fault, the place and the remedy. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fixtures, plainEnv, wiretape } from '../behaviour/run-cli.js'

const folder = mkdtempSync(join(os.tmpdir(), 'wiretape-errors-'))
const env = plainEnv({ XDG_DATA_HOME: folder, HOME: folder })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tape = join(fixtures, 'faultless.jsonl')
const lines: readonly (readonly [line: string, said: string])[] = [
  ['ui nosuch.jsonl', 'cannot read nosuch.jsonl: no such file'],
  [`ui ${tape}/x`, `cannot read ${tape}/x: a part of its path is not a folder`],
  ['inspect nosuch.jsonl', 'cannot read nosuch.jsonl: no such file'],
  ['ls nosuchdir', 'cannot list nosuchdir: no such folder'],
  [`diff ${tape} ${tape} --ignore result.x`, '(did you mean $.result.x?)'],
  [`diff ${tape} ${tape} --match result.x=any`, '(did you mean $.result.x?)'],
  [`diff ${tape} ${tape} --ignore $.result[`, '(use a path such as $.result.structuredContent.time)'],
  [
    `diff ${tape} ${tape} --report html=x`,
    'unknown report kind "html" (use --report KIND=FILE with one of junit, json, markdown, github)',
  ],
  [`diff ${tape} ${tape} --report junit`, '--report junit needs a file (use junit=FILE)'],
  ['record --url localhost:3001', '--url localhost:3001 has no scheme (did you mean http://localhost:3001?)'],
  ['record --bridge --url example.com/mcp', '--url example.com has no scheme'],
  [`replay ${tape} --url localhost:3001`, '--url localhost:3001 has no scheme'],
  [
    `proxy replay --session-file ${tape} --target-url localhost:3001`,
    '--target-url localhost:3001 has no scheme',
  ],
  [
    'proxy start --transport sse --target-url localhost:3001',
    '--target-url localhost:3001 has no scheme (did you mean http://localhost:3001?)',
  ],
  ['proxy start --transport sse --target-url ftp://h', '--target-url must begin with http://'],
  [
    'proxy start --transport sse --target-url http://h --listen-port 70000',
    '--listen-port 70000: a port must be 0 to 65535',
  ],
  ['record --listen 127.0.0.1:70000 -- cat', '--listen 127.0.0.1:70000: a port must be 0 to 65535'],
  [
    'proxy export --session-file s.json --output out --output-format JSON',
    '--output-format JSON: unknown format (did you mean json?)',
  ],
  [
    'proxy export --session-file s.json --output out --output-format yaml',
    'unknown format (use one of json, trace-v1, session-json,',
  ],
  ['proxy inspect --sessionfile s.json', "unknown option '--sessionfile' (Did you mean --session-file?)"],
]

describe('a wrong command line', () => {
  it.each(lines)('wiretape %s', async (line, said) => {
    const { code, stdout, stderr } = await wiretape(line.split(' '), { env, cwd: folder, isRefused: true })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(said)
    expect(stderr.match(/\n/g)).toHaveLength(1)
  })

  it.each(['.', '..'])('ls %s names the folder by its path', async (name) => {
    const cwd = join(folder, 'outer', 'inner')
    mkdirSync(cwd, { recursive: true })
    const { code, stdout } = await wiretape(['ls', name], { env, cwd })
    expect(code).toBe(0)
    expect(stdout).toContain(`No recordings in ${join(cwd, name)}.\n`)
  })

  it('ls of a data folder that is not there yet is empty', async () => {
    const { code, stdout } = await wiretape(['ls'], { env, cwd: folder })
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('No recordings in') })
  })
})

describe('a duration', () => {
  it.each(['--hold-timeout 5', '--hold-timeout 5s', '--hold-timeout 500ms', '--hold-timeout 1.5m'])(
    'record %s is taken',
    async (option) => {
      const argv = ['record', ...option.split(' '), '--', process.execPath, '-e', '']
      expect(await wiretape(argv, { env, cwd: folder })).toMatchObject({ code: 0, stderr: '' })
    },
  )

  it.each(['record', 'replay'])('%s --help says what a bare number is', async (command) => {
    const { stdout } = await wiretape([command, '--help'], { env })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('500ms, 5s or 2m; a bare number is seconds')
  })

  it('is refused with the forms that there are', async () => {
    const { code, stderr } = await wiretape(['replay', tape, '--timeout', '5x', '--', 'cat'], { env })
    expect(code).toBe(2)
    expect(stderr).toContain('Use a time such as 500ms, 5s or 2m; a bare number is seconds.')
  })
})
