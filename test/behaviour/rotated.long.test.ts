/** A recording in several files is one recording, whichever of them is named. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mock, readRecording, replay } from '../../src/index.js'
import { opening, talk } from './replay-stage.js'
import { run, wiretape, type Run } from './run-cli.js'
import { cli, createStage, server, type Stage } from './stage.js'

const release = server('release.mjs')
const search = (id: number) => ({
  id,
  method: 'tools/call',
  params: { name: 'search', arguments: { query: `q${id}` } },
})

describe('of a rotated recording', () => {
  let stage: Stage
  let segments: string[] = []
  beforeAll(async () => {
    stage = createStage()
    const messages = [...opening, ...Array.from({ length: 12 }, (_, i) => search(i + 1))]
    await talk(stage.record(release, ['--max-bytes', '2000', '--label', 'r']), { messages }, stage.folder)
    segments = readdirSync(stage.out).map((name) => join(stage.out, name))
    expect(segments.length).toBeGreaterThan(2)
  })
  afterAll(() => stage.close())

  /** The first, one in the middle, and the last. */
  const some = (): string[] => {
    const last = segments.length - 1
    const numbers = [0, 1, last]
    return numbers.map((number) =>
      segments.find((path) => path.endsWith(number === 0 ? 'Z-r.jsonl' : `.${number}.jsonl`))!,
    )
  }
  const command = (...args: string[]): Promise<Run> => wiretape(args, { cwd: stage.folder })

  it('replay sends all messages', async () => {
    for (const path of some()) {
      const { code, stdout } = await command('replay', path, '--', ...release)
      expect(stdout).toContain('Replaying 14 messages')
      expect(stdout).toContain('Same: 13 exchanges')
      expect(code).toBe(0)
      expect((await replay(path, { command: release })).counts.same).toBe(13)
    }
  })

  it('convert says which segments are missing', async () => {
    const few = join(stage.folder, 'few')
    mkdirSync(few)
    const [first] = some()
    copyFileSync(first!, join(few, 'r.jsonl'))
    copyFileSync(first!.replace(/\.jsonl$/, '.2.jsonl'), join(few, 'r.2.jsonl'))
    for (const [input, output] of [
      ['few/r.jsonl', 'few/r.har'],
      ['few/r.jsonl', 'few/r.json'],
      ['few/r.jsonl', 'few/again.jsonl'],
    ] as const) {
      const { code, stderr } = await command('convert', input, output)
      expect(stderr).toContain('few/r.jsonl: segment 1 is missing: r.1.jsonl\n')
      expect(stderr.match(/segment 1 is missing/g)).toHaveLength(1)
      expect(code).toBe(0)
    }
    expect((await command('convert', some()[1]!, 'few/whole.har')).stderr).not.toContain('segment')
  })

  it('diff compares all exchanges', async () => {
    const [first, middle] = some()
    const { code, stdout } = await command('diff', first!, middle!)
    expect(stdout).toContain('Same: 13 exchanges')
    expect(code).toBe(0)
  })

  it('mock knows all calls', async () => {
    for (const path of some()) {
      const input = [{ ...opening[0] }, search(1), search(12)]
        .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
        .join('')
      const { stdout, stderr } = await run([process.execPath, cli, 'mock', path], {
        input,
        cwd: stage.folder,
      })
      expect(stderr).toBe('')
      expect(stdout.trimEnd().split('\n')).toHaveLength(3)
    }
    const served = await mock(some()[1]!)
    await served.close()
  })

  it('convert writes and readRecording reads all of it', async () => {
    for (const path of some()) {
      const { stdout } = await command('convert', path, '-', '--to', 'jsonrpc')
      expect(stdout.trimEnd().split('\n')).toHaveLength(27)
      expect((await readRecording(path)).counts.messages).toBe(27)
    }
  })

  it('no report is written over another segment, and --update says what to do', async () => {
    const [first, middle] = some()
    const refused = await command('diff', first!, first!, '--report', `json=${middle}`)
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is also the input') })
    const updated = await command('replay', first!, '--update', '--', ...release)
    expect(updated).toMatchObject({ code: 2, stderr: expect.stringContaining('convert it to a tape first') })
  })
})
