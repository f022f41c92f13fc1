import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { fixtures, plainEnv, wiretape, type Run } from './run-cli.js'
import { useStage, recordPing } from './stage.js'

const stage = useStage()
let tape: string
beforeEach(() => {
  tape = stage.path('cut-off.jsonl')
  copyFileSync(join(fixtures, 'cut-off.jsonl'), tape)
})

const recover = (...args: string[]): Promise<Run> =>
  wiretape(['recover', ...args], { cwd: stage.folder, env: plainEnv(stage.env) })
const check = (file: string): Promise<Run> => wiretape(['inspect', '--check', file], { cwd: stage.folder })

describe('recover', () => {
  it('writes a closed copy with every whole line, and leaves the tape as it was', async () => {
    const before = readFileSync(tape, 'utf8')
    const result = await recover('cut-off.jsonl')
    expect(result).toEqual({
      code: 0,
      stdout: 'cut-off.recovered.jsonl: 2 messages, closed\n',
      stderr: 'wiretape: cut-off.jsonl, line 4: the last line is truncated\n',
    })
    expect(readFileSync(tape, 'utf8')).toBe(before)
    const copy = readFileSync(stage.path('cut-off.recovered.jsonl'), 'utf8')
    expect(copy.split('\n').slice(0, 3)).toEqual(before.split('\n').slice(0, 3))
    expect(JSON.parse(copy.trimEnd().split('\n').at(-1)!)).toMatchObject({
      type: 'end',
      wiretape: { messages: 2, recovered: true },
    })
    expect(statSync(stage.path('cut-off.recovered.jsonl')).mode & 0o077).toBe(0)
    expect(await check('cut-off.recovered.jsonl')).toMatchObject({ code: 0 })
  })

  it('invents no exit code', async () => {
    await recover('cut-off.jsonl')
    const file = 'cut-off.recovered.jsonl'
    const { stdout } = await wiretape(['inspect', file], { cwd: stage.folder })
    expect(stdout).toContain(' · recovered, end unknown\n')
    expect(stdout).not.toContain('exit 1')
    const json = await wiretape(['inspect', '--json', file], { cwd: stage.folder })
    expect(JSON.parse(json.stdout).recordings[0].sessions).toMatchObject([
      { complete: true, recovered: true, exitCode: null },
    ])
  })

  it('writes to the given path, and over the tape itself with --in-place', async () => {
    expect(await recover('cut-off.jsonl', 'other.jsonl')).toMatchObject({ code: 0 })
    expect(await recover('--in-place', 'cut-off.jsonl')).toMatchObject({ code: 0 })
    expect(readFileSync(tape)).toEqual(readFileSync(stage.path('other.jsonl')))
  })

  it('deletes the unfinished output of a killed recovery, and no other file', async () => {
    const gone = spawnSync(process.execPath, ['-e', '']).pid
    for (const name of [`.cut-off.jsonl.wiretape-${gone}-12345678.tmp`, `.other.wiretape-${gone}-1.tmp`])
      writeFileSync(stage.path(name), 'half')
    expect(await recover('--in-place', 'cut-off.jsonl')).toMatchObject({ code: 0 })
    expect(readdirSync(stage.folder).toSorted()).toEqual([`.other.wiretape-${gone}-1.tmp`, 'cut-off.jsonl'])
  })

  it('writes to stdout, with no other output there', async () => {
    const printed = await recover('cut-off.jsonl', '-')
    await recover('cut-off.jsonl', 'other.jsonl')
    expect(printed).toEqual({
      code: 0,
      stdout: readFileSync(stage.path('other.jsonl'), 'utf8'),
      stderr: 'wiretape: cut-off.jsonl, line 4: the last line is truncated\n',
    })
  })

  it('does nothing for a complete tape', async () => {
    copyFileSync(join(fixtures, 'faultless.jsonl'), stage.path('whole.jsonl'))
    expect(await recover('whole.jsonl')).toEqual({
      code: 0,
      stdout: 'whole.jsonl is complete: 3 messages, nothing to recover\n',
      stderr: '',
    })
    expect(readdirSync(stage.folder).toSorted()).toEqual(['cut-off.jsonl', 'whole.jsonl'])
  })

  it('replaces an output only with --force', async () => {
    writeFileSync(stage.path('cut-off.recovered.jsonl'), 'precious')
    expect(await recover('cut-off.jsonl')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'wiretape: cut-off.recovered.jsonl exists (choose another output, or replace it with --force)\n',
    })
    expect(readFileSync(stage.path('cut-off.recovered.jsonl'), 'utf8')).toBe('precious')
    expect(await recover('--force', 'cut-off.jsonl')).toMatchObject({ code: 0 })
    expect(await check('cut-off.recovered.jsonl')).toMatchObject({ code: 0 })
  })

  it('refuses an output together with --in-place, and a folder as the output', async () => {
    expect(await recover('--in-place', 'cut-off.jsonl', 'x.jsonl')).toMatchObject({ code: 2, stdout: '' })
    expect(await recover('--force', 'cut-off.jsonl', '.')).toMatchObject({ code: 2, stdout: '' })
    expect(readdirSync(stage.folder)).toEqual(['cut-off.jsonl'])
  })

  it('refuses a tape that is still being recorded, by any of its names', async () => {
    const { actor, tape: live } = await recordPing(stage)
    for (const args of [[live], ['--in-place', live], ['--force', live, live]]) {
      const result = await recover(...args)
      expect(result).toMatchObject({ code: 2, stdout: '' })
      expect(result.stderr).toMatch(
        /^wiretape: .*\.jsonl is still being recorded \(end the capture first\)\n$/,
      )
    }
    expect(existsSync(live.replace(/\.jsonl$/, '.recovered.jsonl'))).toBe(false)
    actor.child.kill('SIGKILL')
    await actor.ended
    expect(await recover('--in-place', live)).toMatchObject({ code: 0 })
    expect((await check(live)).stdout).not.toContain('incomplete')
  })
})
