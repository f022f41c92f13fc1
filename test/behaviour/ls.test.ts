import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { fixtures, leftOut, plainEnv, runOnTerminal, unstyled, wiretape, type Run } from './run-cli.js'
import { cli, server, until, type Actor, useStage } from './stage.js'

const hasScript = spawnSync('script', ['--version']).status === 0

const stage = useStage()

const ls = (args: readonly string[] = [stage.out]): Promise<Run> =>
  wiretape(['ls', ...args], { cwd: stage.folder, env: plainEnv(stage.env) })

async function rows(): Promise<{ state: string; files: string[]; messages: number | null }[]> {
  const { stdout, stderr, code } = await ls([stage.out, '--json'])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}

/** A running recording with a message on its tape. */
async function startRecording(...options: string[]): Promise<Actor> {
  const actor = stage.start(stage.record(server('mini-mcp.mjs'), options))
  await actor.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await until('the answer is on the tape', () =>
    stage.tapes().some((path) => readFileSync(path, 'utf8').includes('"result"')),
  )
  return actor
}

const registry = (): string => join(stage.env['XDG_DATA_HOME']!, 'wiretape', 'live')
const entries = (): string[] => (existsSync(registry()) ? readdirSync(registry()) : [])
/** Registry entry of the only capture; its socket is beside it. */
const entryPath = (): string =>
  join(
    registry(),
    entries().find((name) => name.endsWith('.json'))!,
  )

describe('ls', () => {
  it('lists the recordings of a folder, oldest first', async () => {
    const { stdout } = await wiretape(['ls', '.'], { cwd: fixtures })
    const ageless = stdout.replaceAll(/ {2,}\d+[mhd] (?= )/g, '  <age> ')
    await expect(ageless).toMatchFileSnapshot(join(fixtures, 'expected', 'ls.txt'))
  })

  it('is valid JSON with --json, with one element for all segments of a session', async () => {
    const { stdout } = await wiretape(['ls', '--json', fixtures])
    const all = JSON.parse(stdout)
    expect(all.find((row: { label: string }) => row.label === 'rotated')).toMatchObject({
      state: 'complete',
      messages: 6,
      files: ['rotated.jsonl', 'rotated.1.jsonl', 'rotated.2.jsonl'].map((name) => join(fixtures, name)),
    })
    expect(all.find((row: { label: string }) => row.label === 'cut-off')).toMatchObject({
      state: 'incomplete',
      messages: null,
      durationMs: null,
    })
  })

  it('says what to do where there is no recording, a missing folder included', async () => {
    const { stdout, code } = await ls([])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^No recordings in .*wiretape\/recordings\.\nRecord a server: wiretape record/)
    expect(existsSync(registry())).toBe(false)
  })

  it('shows live while the recorder runs, and complete when it has ended', async () => {
    const actor = await startRecording()
    expect(await rows()).toMatchObject([{ state: 'live', messages: null }])
    expect((await ls()).stdout).toMatch(/^● live /m)
    actor.stdin.end()
    await actor.ended
    expect(await rows()).toMatchObject([{ state: 'complete', messages: 2 }])
    expect(entries()).toEqual([])
  })

  it.each([['a tape of its own format'], ['a strict tape', '--strict-v1']])(
    'shows live for %s that has continued in a second file',
    async (_, ...options) => {
      const actor = await startRecording('--max-bytes', '1000', ...options)
      await actor.send('{"jsonrpc":"2.0","id":2,"method":"ping"}\n'.repeat(40))
      await until('there is a second file', () => stage.tapes().length > 1)
      expect((await rows()).map(({ state }) => state)).toContain('live')
      actor.stdin.end()
      await actor.ended
      expect((await rows()).map(({ state }) => state)).not.toContain('live')
    },
  )

  it('shows incomplete after kill -9, and deletes the registry entry', async () => {
    const actor = await startRecording()
    await until('its socket is known', () => /"socket":"/.test(readFileSync(entryPath(), 'utf8')))
    actor.child.kill('SIGKILL')
    await actor.ended
    expect(await rows()).toMatchObject([{ state: 'incomplete' }])
    expect(entries()).toEqual([])
    expect((await ls()).stdout).toContain('1 recording is truncated')
  })

  it('does not take another process with the same pid for the recorder', async () => {
    if (leftOut(process.platform === 'linux', 'start times of processes are known on Linux only')) return
    const actor = await startRecording()
    const path = entryPath()
    const entry = JSON.parse(readFileSync(path, 'utf8'))
    actor.child.kill('SIGKILL')
    await actor.ended
    // This process has the recorder's pid but another start time.
    writeFileSync(path, JSON.stringify({ ...entry, pid: process.pid }))
    expect(await rows()).toMatchObject([{ state: 'incomplete' }])
    expect(entries()).toEqual([])
  })

  it('shows a copy of a tape as a recording of its own', async () => {
    mkdirSync(stage.out, { recursive: true })
    const tape = join(stage.out, 'tape.jsonl')
    const whole = readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8')
    writeFileSync(tape, whole.slice(0, whole.trimEnd().lastIndexOf('\n') + 1))
    expect(await wiretape(['recover', tape])).toMatchObject({ code: 0 })
    expect(await rows()).toMatchObject([
      { state: 'incomplete', messages: null, files: [tape] },
      { state: 'complete', messages: 3, exitCode: null, files: [join(stage.out, 'tape.recovered.jsonl')] },
    ])
    copyFileSync(tape, join(stage.out, 'a-copy.jsonl'))
    expect((await rows()).map(({ files }) => files.length)).toEqual([1, 1, 1])
  })

  it('ignores other files in the folders', async () => {
    mkdirSync(join(stage.out, 'folder.jsonl'), { recursive: true })
    writeFileSync(join(stage.out, 'notes.jsonl'), 'hello\n')
    writeFileSync(join(stage.out, 'empty.jsonl'), '')
    mkdirSync(registry(), { recursive: true })
    writeFileSync(join(registry(), 'broken.json'), '{"pid":')
    writeFileSync(join(registry(), 'strange.json'), 'null')
    expect(await rows()).toEqual([])
  })

  it.skipIf(leftOut(hasScript, 'no `script` command'))(
    'leaves out columns on a narrow terminal, never a part of a file name',
    async () => {
      const actor = stage.start(stage.record(['true'], ['--label', 'a-label-of-some-length']))
      await actor.ended
      const [tape] = stage.tapes()
      const { stdout } = await runOnTerminal([process.execPath, cli, 'ls', stage.out], 100)
      const lines = unstyled(stdout).split('\n')
      expect(lines[1]).toContain(tape!.slice(stage.out.length + 1))
      expect(stringWidth(lines[1]!)).toBeLessThanOrEqual(100)
      expect(lines[0]).not.toContain('label')
    },
  )
})
