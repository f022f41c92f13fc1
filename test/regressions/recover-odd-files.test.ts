import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtures, wiretape, type Run } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'

const stage = useStage()

const whole = readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8')
const lines = whole.trimEnd().split('\n')
const [meta, end] = [lines[0]!, lines.at(-1)!]
const messages = lines.slice(1, -1)
const cutOff = `${[meta, ...messages].join('\n')}\n`
/** The same of another session. */
const other = (text: string): string => text.replaceAll(/"session":"[^"]*"/g, '"session":"another"')

const recover = (...args: string[]): Promise<Run> =>
  wiretape(['recover', ...args], { cwd: stage.folder, env: stage.env })
const read = (name: string): string => readFileSync(stage.path(name), 'utf8')
const linesOf = (name: string): string[] => read(name).trimEnd().split('\n')

async function recovered(text: string): Promise<string[]> {
  writeFileSync(stage.path('odd.jsonl'), text)
  expect(await recover('--in-place', 'odd.jsonl')).toMatchObject({ code: 0 })
  const check = await wiretape(['inspect', '--check', 'odd.jsonl'], { cwd: stage.folder })
  expect(check.stdout).not.toMatch(/after-end|incomplete/)
  expect((await recover('odd.jsonl')).stdout).toMatch(/^odd\.jsonl is complete: /)
  return linesOf('odd.jsonl')
}

describe('recover', () => {
  it('closes each of two tapes in one file that lacks its end', async () => {
    const text = await recovered(cutOff + other(whole))
    expect(text).toHaveLength(2 * lines.length)
    const added = text[lines.length - 1]!
    expect(JSON.parse(added)).toMatchObject({ type: 'end', wiretape: { messages: 3, recovered: true } })
    expect(text.filter((line) => line !== added).join('\n')).toBe((cutOff + other(whole)).trimEnd())
  })

  it('counts in the end that it adds only what belongs to that tape', async () => {
    const text = await recovered(whole + other(cutOff))
    expect(text.slice(0, lines.length)).toEqual(lines)
    expect(JSON.parse(text.at(-1)!)).toMatchObject({ wiretape: { messages: 3, recovered: true } })
  })

  it('leaves out an end that messages follow', async () => {
    const text = await recovered(`${whole}${messages[0]}\n`)
    expect(text.slice(0, -1)).toEqual([meta, ...messages, messages[0]])
    expect(JSON.parse(text.at(-1)!)).toMatchObject({
      wiretape: { messages: messages.length + 1, recovered: true },
    })
  })

  it('keeps the end when nothing but a line of somebody else follows, behind that', async () => {
    const note = '{"type":"note","text":"seen"}'
    expect(await recovered(`${whole}${note}\n`)).toEqual([meta, ...messages, note, end])
  })

  it('in place through a link mends what the link names', async () => {
    mkdirSync(stage.path('elsewhere'))
    writeFileSync(stage.path('elsewhere/tape.jsonl'), cutOff)
    symlinkSync('elsewhere/tape.jsonl', stage.path('link.jsonl'))
    expect(await recover('--in-place', 'link.jsonl')).toMatchObject({ code: 0 })
    expect(lstatSync(stage.path('link.jsonl')).isSymbolicLink()).toBe(true)
    expect(linesOf('elsewhere/tape.jsonl')).toHaveLength(lines.length)
    expect(readdirSync(stage.path('elsewhere'))).toEqual(['tape.jsonl'])
  })

  it('reports that a path is a folder, as the tape and as the output', async () => {
    mkdirSync(stage.path('folder'))
    writeFileSync(stage.path('tape.jsonl'), cutOff)
    for (const args of [['tape.jsonl', 'folder'], ['--force', 'tape.jsonl', 'folder'], ['folder']]) {
      const { code, stderr } = await recover(...args)
      expect(code).toBe(2)
      expect(stderr).toMatch(/^wiretape: folder is a folder \(name a file in it\.?\)\n$/i)
    }
    expect(readdirSync(stage.folder).toSorted()).toEqual(['folder', 'tape.jsonl'])
  })

  it('does not advise stdin, which it does not read', async () => {
    if (process.platform === 'win32') return
    spawnSync('mkfifo', [stage.path('pipe')])
    expect((await recover('pipe')).stderr).toBe('wiretape: pipe is not a regular file (Name a file.)\n')
    expect((await recover('-')).stderr).toBe(
      'wiretape: recover cannot read stdin (save the tape to a file first)\n',
    )
  })
})
