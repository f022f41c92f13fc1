import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtures } from '../behaviour/run-cli.js'
import { cli, readIfThere, until, type Actor, useStage } from '../behaviour/stage.js'

const stage = useStage()

/** A device that refuses every write as a full disk does (Linux). */
const full = '/dev/full'
const refused = 'wiretape: cannot write to stdout: no space left on device'

const toFullDisk = (argv: readonly string[]): Actor =>
  stage.start(['sh', '-c', `exec "$@" >${full}`, 'sh', ...argv])

describe.runIf(existsSync(full))('a disk that takes nothing', () => {
  it.each([
    ['--version'],
    ['-V'],
    ['--help'],
    ['record', '--help'],
    ['ls'],
    ['inspect', join(fixtures, 'faultless.jsonl')],
    ['inspect', '--json', join(fixtures, 'faultless.jsonl')],
    ['recover', join(fixtures, 'faultless.jsonl')],
  ])('gets %s %s told in one line, and ends it with 2', async (...args) => {
    const actor = toFullDisk([process.execPath, cli, ...args.filter((word) => word !== undefined)])
    expect(await actor.ended).toEqual({ exitCode: 2, signal: null })
    expect(actor.stderr().toString()).toBe(`${refused}\n`)
  })

  it('closes the stdout of a server that is recorded, and that is said', async () => {
    // The shell's own words about it go to stderr as well; what ends it is its own affair.
    const script = 'trap "" PIPE; read a; echo "$a" && read b && { echo "$b" 2>/dev/null || exit 5; }'
    const recorder = toFullDisk(stage.record(['sh', '-c', script]))
    recorder.stdin.write('one\n')
    await until('the answer is on the tape', () => {
      const [tape] = stage.tapes()
      return tape !== undefined && readIfThere(tape).includes('"dir":"out","text":"one"')
    })
    recorder.stdin.end('two\n')
    expect(await recorder.ended).toEqual({ exitCode: 5, signal: null })
    expect(recorder.stderr().toString()).toBe(`${refused} (the stdout of the server was closed too)\n`)
    expect(readFileSync(stage.tape(), 'utf8')).toContain('"exitCode":5')
  })
})

it('a reader of the version that went away is no failure', async () => {
  const actor = stage.start([
    'sh',
    '-c',
    '{ "$@"; echo "$?" >status; } | true',
    'sh',
    process.execPath,
    cli,
    '-V',
  ])
  await actor.ended
  await until('it ended', () => readIfThere(stage.path('status')) !== '')
  expect(readIfThere(stage.path('status'))).toBe('0\n')
  expect(actor.stderr().toString()).toBe('')
})
