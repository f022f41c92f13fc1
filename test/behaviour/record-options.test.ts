import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { plainEnv, wiretape as run } from './run-cli.js'
import { server } from './stage.js'
import { bytesOfTape, linesOfTape, linesOfType } from './tape-bytes.js'
import { sayArguments, useRecordOptions } from './record-options-stage.js'

const { stage, wiretape, metaOf, converse, segments } = useRecordOptions()

describe('the label and metadata of a recording', () => {
  it("are in the tape's first line", async () => {
    const options = [
      '--label',
      'my files',
      '--target',
      'staging',
      '--note',
      'a "note"',
      '--meta',
      'a=1',
      '--meta',
      'b=x=y',
      '--meta',
      'c=',
    ]
    const meta = await metaOf(options, ['true', '--flag'])
    expect(meta).toMatchObject({ v: 1, type: 'meta', label: 'my files', command: ['true', '--flag'] })
    expect(meta['wiretape'].metadata).toEqual({
      target: 'staging',
      notes: 'a "note"',
      a: '1',
      b: 'x=y',
      c: '',
    })
    expect(basename(stage.tape())).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-my-files\.jsonl$/)
  })
})

describe('where a recording goes', () => {
  it('is a private folder of the user without --out, in private files', async () => {
    const recorder = wiretape('record', '--', 'true')
    expect((await recorder.ended).exitCode).toBe(0)
    const folder = stage.path('data/wiretape/recordings')
    const [name, ...others] = readdirSync(folder)
    expect(others).toEqual([])
    expect(statSync(join(folder, name!)).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(dirname(folder)).mode & 0o777).toBe(0o700)
  })

  it('is --out, created if missing, relative to the working directory', async () => {
    const recorder = wiretape('record', '--out', 'a/b c', '--', 'true')
    expect((await recorder.ended).exitCode).toBe(0)
    const folder = stage.path('a/b c')
    expect(readdirSync(folder)).toHaveLength(1)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, readdirSync(folder)[0]!)).mode & 0o777).toBe(0o600)
  })
})

describe('the server’s command line', () => {
  it('begins after --, and its own options and dashes stay its own', async () => {
    const words = ['--out', 'x', '--', '-q', '', 'a b', '--label=y']
    const recorder = stage.start(stage.record([...sayArguments, ...words]))
    expect((await recorder.ended).exitCode).toBe(0)
    expect(recorder.stdout().toString()).toBe(words.map((word) => `${word}\n`).join(''))
    expect(linesOfTape(stage.tape())[0]!['command']).toEqual([...sayArguments, ...words])
  })
})

describe('an invalid command line starts no server, creates no file and prints one line', () => {
  const start = ['sh', '-c', 'echo started >started.txt']
  it.each([
    ['an unknown option', ['--colour', '--', ...start]],
    ['an option that is nearly one', ['--labl', 'x', '--', ...start]],
    ['no command', []],
    ['nothing after --', ['--']],
    ['options but no command', ['--label', 'x']],
    ['an empty command', ['--', '']],
    ['an option without its value', ['--out']],
    ['--meta without =', ['--meta', 'key', '--', ...start]],
    ['--meta without a key', ['--meta', '=value', '--', ...start]],
    ['a size that is none', ['--max-bytes', 'huge', '--', ...start]],
    ['a size that is negative', ['--max-bytes', '-5', '--', ...start]],
    ['a size that holds nothing', ['--max-bytes', '10', '--', ...start]],
    ['a count of 0', ['--max-bytes', '1MB', '--max-files', '0', '--', ...start]],
    ['a count that is none', ['--max-bytes', '1MB', '--max-files', '1.5', '--', ...start]],
    ['--max-files without --max-bytes', ['--max-files', '3', '--', ...start]],
  ])('%s', async (_, args) => {
    const where = { cwd: stage.folder, env: plainEnv(stage.env) }
    const { code, stdout, stderr } = await run(['record', ...args], { ...where, isRefused: true })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^wiretape: [^\n]+\n$/)
    expect(readdirSync(stage.folder)).toEqual([])
  })
})

it('--strict-v1 writes only the lines and members of the published format', async () => {
  const recorder = stage.start(stage.record(server('junk.mjs'), ['--strict-v1', '--target', 'x']))
  await recorder.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  expect((await recorder.ended).exitCode).toBe(0)
  const lines = linesOfTape(stage.tape())
  expect(new Set(lines.map(({ type }) => type))).toEqual(new Set(['meta', undefined, 'end']))
  for (const line of lines) {
    const wanted =
      line['type'] === 'meta'
        ? ['v', 'type', 'startedAt', 'label', 'command', 'mcpTapVersion']
        : line['type'] === 'end'
          ? ['t', 'type', 'exitCode', 'durationMs']
          : ['t', 'dir', 'raw']
    expect(Object.keys(line)).toEqual(wanted)
  }
  expect(linesOfType(stage.tape(), undefined).length).toBeGreaterThanOrEqual(4)
})

describe('--max-bytes', () => {
  it('starts a new file before one grows beyond it, and the files make one recording', async () => {
    const sent = await converse(['--max-bytes', '20kB', '--label', 'r'], 300)
    const paths = segments()
    expect(paths.length).toBeGreaterThan(4)
    const first = paths[0]!
    expect(paths.slice(1)).toEqual(paths.slice(1).map((_, i) => first.replace(/\.jsonl$/, `.${i + 1}.jsonl`)))
    for (const dir of ['in', 'out'] as const) {
      expect(Buffer.concat(paths.map((path) => bytesOfTape(path, dir))).toString()).toBe(sent)
    }
    const session = linesOfTape(first)[0]!['wiretape'].session
    let seq = 0
    for (const [i, path] of paths.entries()) {
      const lines = linesOfTape(path)
      // The end line may exceed the limit.
      expect(statSync(path).size).toBeLessThanOrEqual(20_500)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(lines[0]).toMatchObject({ type: 'meta', label: 'r', wiretape: { session, segment: i } })
      const messages = lines.slice(1, -1)
      for (const message of messages) expect(message['seq']).toBe(seq++)
      const last = i === paths.length - 1
      expect(lines.at(-1)).toMatchObject({ type: 'end', wiretape: { messages: messages.length } })
      expect(lines.at(-1)!['wiretape'].rotated).toBe(last ? undefined : true)
    }
    expect(seq).toBe(600)
  })
})
