/** Outputs that are not files are written through, never replaced. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainEnv, run, wiretape, type Run } from './run-cli.js'
import { cli } from './stage.js'

let folder = ''
const lines = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n'
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-outlets-'))
  writeFileSync(join(folder, 'in.jsonl'), lines)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const lost = (output: string): string =>
  `wiretape: ${output}: times and directions of messages are left out: 2\n`
const convert = ['convert', 'in.jsonl', '--to', 'jsonrpc']
/** A line of the shell, in which `$W` is wiretape. */
function shell(line: string): Promise<Run> {
  const env = plainEnv({ W: `"${process.execPath}" "${cli}" ${convert.join(' ')}` })
  return run(['bash', '-c', line.replaceAll('$W', '{ eval "$W $OUT"; }')], { cwd: folder, env })
}
const into = (output: string, line: string): Promise<Run> => shell(`OUT=${output}; ${line}`)

describe.runIf(process.platform === 'linux')('an output that is no file', () => {
  it.each(['/dev/stdout', '/dev/fd/1', '-'])('%s is stdout, without other output', async (output) => {
    expect(await wiretape([...convert, output], { cwd: folder })).toEqual({
      code: 0,
      stdout: lines,
      stderr: lost('stdout'),
    })
    await into(output, 'echo before >out; $W >>out; echo after >>out')
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe(`before\n${lines}after\n`)
  })

  it('/dev/null takes everything and stays what it is', async () => {
    const { code, stderr } = await wiretape([...convert, '/dev/null'], { cwd: folder })
    expect([code, stderr]).toEqual([0, lost('/dev/null')])
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  it("a descriptor of the shell is written at the shell's position", async () => {
    const { stderr } = await into('/dev/fd/3', '{ echo before >&3; $W; echo after >&3; } 3>third')
    expect(stderr).toBe(lost('/dev/fd/3'))
    expect(readFileSync(join(folder, 'third'), 'utf8')).toBe(`before\n${lines}after\n`)
  })

  it("a shell's pipe is written into", async () => {
    const { code } = await into('">(cat >substituted)"', '$W >/dev/null; wait $!')
    expect([code, readFileSync(join(folder, 'substituted'), 'utf8')]).toEqual([0, lines])
    const piped = await into('/dev/fd/3', '{ $W 3>&1 >/dev/null; } | cat')
    expect([piped.code, piped.stdout]).toEqual([0, lines])
  })

  it('a pipe with a name is written into, also through a link to it', async () => {
    expect(spawnSync('mkfifo', [join(folder, 'named')]).status).toBe(0)
    symlinkSync('named', join(folder, 'link'))
    for (const output of ['named', 'link']) {
      const { code, stderr } = await into(output, 'cat named >got & $W && wait $!')
      expect([code, stderr]).toEqual([0, lost(output)])
      expect(readFileSync(join(folder, 'got'), 'utf8')).toBe(lines)
      expect(statSync(join(folder, 'named')).isFIFO()).toBe(true)
    }
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('that is full is reported', async () => {
    expect(await wiretape([...convert, '/dev/full'], { cwd: folder })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'wiretape: cannot write /dev/full: disk full\n',
    })
  })
})

describe('an output that is a folder', () => {
  it('is refused', async () => {
    const { code, stderr } = await wiretape([...convert, '.'], { cwd: folder })
    expect([code, stderr]).toEqual([2, 'wiretape: . is a folder (name a file in it)\n'])
  })
})
