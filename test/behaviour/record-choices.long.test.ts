import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { server } from './stage.js'
import { bytesOfTape, linesOfTape, linesOfType } from './tape-bytes.js'
import { line, sayArguments, useRecordOptions } from './record-options-stage.js'

const { stage, wiretape, metaOf, converse, segments } = useRecordOptions()

describe('the label and metadata of a recording', () => {
  it('default to the name of the program and the time of the start', async () => {
    const meta = await metaOf([], ['/bin/true'])
    expect(meta['label']).toBe('true')
    const stamp = meta['startedAt'].replaceAll(/[:.]/g, '-')
    expect(basename(stage.tape())).toBe(`${stamp}-true.jsonl`)
  })

  it('may have any characters', async () => {
    const label = `../../${'Größe 🎞/'.repeat(30)}\u001B[31m`
    const meta = await metaOf(['--label', label, '--meta', '__proto__=x'])
    expect(meta['label']).toBe(label)
    expect(Object.entries(meta['wiretape'].metadata)).toEqual([['__proto__', 'x']])
    expect(basename(stage.tape())).toMatch(/^[\w-]{24}-[\w.-]{1,64}\.jsonl$/)
  })
})

describe('where a recording goes', () => {
  it('is private in a folder that others may read, whatever the umask is', async () => {
    mkdirSync(stage.out)
    chmodSync(stage.out, 0o755)
    const recorder = stage.start(['sh', '-c', 'umask 0; exec "$@"', 'sh', ...stage.record(['true'])])
    expect((await recorder.ended).exitCode).toBe(0)
    expect(statSync(stage.tape()).mode & 0o777).toBe(0o600)
    expect(statSync(stage.out).mode & 0o777).toBe(0o755)
  })

  it('is never a file that another recorder writes', async () => {
    const recorders = Array.from({ length: 20 }, (_, n) =>
      stage.start(stage.record(['echo', `{"jsonrpc":"2.0","id":${n},"result":{}}`], ['--label', 'same'])),
    )
    for (const recorder of recorders) expect((await recorder.ended).exitCode).toBe(0)
    expect(stage.tapes()).toHaveLength(20)
    const ids = stage.tapes().map((path) => {
      expect(linesOfTape(path).map(({ type }) => type)).toEqual(['meta', undefined, 'end'])
      return linesOfType(path, undefined)[0]!['raw'].id
    })
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })

  it.each([
    ['a file in place of the folder', 'in-the-way'],
    ['a file in the way to it', 'in-the-way/folder'],
  ])('cannot be %s: then no server is started', async (_, out) => {
    writeFileSync(stage.path('in-the-way'), '')
    const recorder = wiretape('record', '--out', out, '--', 'sh', '-c', 'echo started >started.txt')
    expect((await recorder.ended).exitCode).toBe(1)
    expect(recorder.stdout()).toHaveLength(0)
    expect(recorder.stderr().toString()).toMatch(/^wiretape: cannot create a tape in [^\n]+\n$/)
    expect(recorder.stderr().toString()).toContain('--out')
    expect(existsSync(stage.path('started.txt'))).toBe(false)
    expect(readdirSync(stage.folder)).toEqual(['in-the-way'])
  })
})

describe('the server’s command line', () => {
  it('begins with the first word that is no option, when there is no --', async () => {
    const words = ['--label', 'x', '--unknown', '--', '-V', '--help']
    const recorder = wiretape('record', '--out', stage.out, '-q', ...sayArguments, ...words)
    expect((await recorder.ended).exitCode).toBe(0)
    expect(recorder.stdout().toString()).toBe(words.map((word) => `${word}\n`).join(''))
    expect(linesOfTape(stage.tape())[0]!['command']).toEqual([...sayArguments, ...words])
  })
})

it('prints nothing on stderr without a terminal, with --quiet and without', async () => {
  for (const options of [[], ['--quiet']]) {
    const recorder = stage.start(stage.record(['true'], options))
    await recorder.ended
    expect(recorder.stderr().toString()).toBe('')
  }
})

describe('--max-bytes', () => {
  it('keeps only the newest with --max-files', async () => {
    await converse(['--max-bytes', '20kB', '--max-files', '2'], 300)
    const paths = segments()
    expect(paths).toHaveLength(2)
    const [older, newer] = paths.map((path) => linesOfTape(path))
    expect(newer!.at(-1)!['wiretape'].rotated).toBeUndefined()
    expect(newer![0]!['wiretape'].segment).toBe(older![0]!['wiretape'].segment + 1)
    expect(newer!.at(-2)).toMatchObject({ seq: 599 })
  })

  it('gives a message that is larger a file of its own', async () => {
    const recorder = stage.start(stage.record(server('echo-lines.mjs'), ['--max-bytes', '1kB']))
    const big = `{"jsonrpc":"2.0","method":"big","params":{"pad":"${'y'.repeat(5_000)}"}}\n`
    recorder.stdin.end(line(0) + big + line(1))
    expect((await recorder.ended).exitCode).toBe(0)
    expect(Buffer.concat(segments().map((path) => bytesOfTape(path, 'out'))).toString()).toBe(
      line(0) + big + line(1),
    )
  })
})
