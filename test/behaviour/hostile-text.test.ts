import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isLong } from '../long.js'
import { fixtures, leftOut, plainEnv, runOnTerminal, unstyled, wiretape } from './run-cli.js'
import { cli, createStage } from './stage.js'

/** The text in every place of `hostile.jsonl` and in the names here: colours, the clipboard, bidi, C1, line breaks. */
const hostile = '\u001b[31mRED\u001b]52;c;QQ==\u0007\u202egnp.exe\u0085\u009b2J\u200b\u2066\u2028\u00ad\n\rX'
const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/
const hasScript = spawnSync('script', ['--version']).status === 0

const stage = createStage()
afterAll(() => stage.close())

function expectHarmless(text: string): void {
  expect(raw.exec(text)).toBeNull()
  // A line break in hostile text would put the rest of it at the start of a line.
  expect(text).not.toMatch(/^\r?X/m)
}

const name = `${hostile}.jsonl`
mkdirSync(stage.path(`folder ${hostile}`))
copyFileSync(join(fixtures, 'hostile.jsonl'), stage.path(name))
copyFileSync(join(fixtures, 'hostile-start.jsonl'), stage.path('start.jsonl'))
writeFileSync(stage.path(`bad ${name}`), '{"v":"\u001b[31m","type":"meta"}\n')
writeFileSync(
  stage.path('other.jsonl'),
  readFileSync(stage.path(name), 'utf8').replaceAll('"result"', '"error"'),
)
writeFileSync(stage.path('version.jsonl'), '{"v":"\u009b2J\u202e","type":"meta"}\n')

describe('text of peers and names of files', () => {
  it.each<[string, string[], number]>([
    ['the list', ['inspect', name], 0],
    ['the list with payloads and stderr', ['inspect', '-v', name, 'start.jsonl'], 0],
    ['the list of several recordings', ['inspect', name, 'start.jsonl'], 0],
    ['the check', ['inspect', '--check', name], 1],
    ['the check of several', ['inspect', '--check', name, 'start.jsonl'], 1],
    ['machine output', ['inspect', '--json', 'start.jsonl'], 0],
    ['the recordings', ['ls', '.'], 0],
    ['the recordings as JSON', ['ls', '--json', '.'], 0],
    ['an empty folder', ['ls', `folder ${hostile}`], 0],
    ['a file that is not there', ['inspect', `no ${name}`], 2],
    ['a file that is no recording', ['inspect', `bad ${name}`], 2],
    ['a version', ['inspect', 'version.jsonl'], 2],
    ['a folder', ['inspect', `folder ${hostile}`], 2],
    ['a file to recover that is not there', ['recover', `no ${name}`], 2],
    ['a recovered file', ['recover', name], 0],
    ['a recovered file that exists', ['recover', name], 2],
    ['an option', ['inspect', `--${hostile}`], 2],
    ['a command', [hostile], 2],
    [
      'a server that cannot be started',
      ['record', '--out', `out ${hostile}`, '--', `no-such-program ${hostile}`],
      127,
    ],
  ])('do not command the terminal: %s', async (_, args, code) => {
    const result = await wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env) })
    expect(result.code).toBe(code)
    expect(result.stdout + result.stderr).not.toBe('')
    expectHarmless(result.stdout)
    expectHarmless(result.stderr)
  })

  it('do not command the terminal where they are printed verbatim: in an id, an error code and a start', async () => {
    const sly = '\u202e\u009b\u007f'
    const lines = [
      { v: 1, type: 'meta', startedAt: sly.repeat(9), label: 'sly', command: ['x'] },
      { t: '', dir: 'in', raw: { jsonrpc: '2.0', id: sly, method: 'ping' } },
      { t: '', dir: 'out', raw: { jsonrpc: '2.0', id: sly, error: { code: sly, message: '' } } },
    ]
    mkdirSync(stage.path('sly'))
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    // JSON may escape these characters; this peer does not.
    writeFileSync(stage.path('sly/sly.jsonl'), text)
    expect(text).toContain(`"code":"${sly}"`)
    const list = await wiretape(['inspect', 'sly/sly.jsonl'], { cwd: stage.folder })
    expectHarmless(list.stdout)
    expect(list.stdout).toContain('"\\u{202')
    expect(list.stdout).toContain('"\\u{202e}\\u{9b}\\u{7f}"')
    const tapes = await wiretape(['ls', 'sly'], { cwd: stage.folder })
    expectHarmless(tapes.stdout)
    const [head, row] = tapes.stdout.split('\n')
    expect(head).toContain(`started (UTC)${' '.repeat(8)}age  label`)
    expect(row!.indexOf('sly')).toBe(head!.indexOf('label'))
  })

  it('stay exact in machine output that does not go to a terminal', async () => {
    const { stdout } = await wiretape(['inspect', '--json', '-v', name], { cwd: stage.folder })
    const { messages } = JSON.parse(stdout)
    expect(messages[3].payload.params.name).toBe(`tool${hostile}`)
    expect(messages[3].subject).toBe(`tool${hostile}`)
  })

  it.skipIf(leftOut(hasScript, 'no `script` command'))(
    'do not command a terminal that shows machine output or colours',
    async () => {
      for (const args of [
        ['inspect', '--json', '-v', name],
        ['inspect', '-v', name],
        ['ls', '.'],
        ['convert', name, '-', '--to', 'session-json'],
        ['diff', '--json', name, 'other.jsonl'],
        ...(isLong ? ['json', 'junit', 'markdown', 'github'] : ['markdown']).map((kind) =>
          `diff|${name}|other.jsonl|--report|${kind}=-`.split('|'),
        ),
      ]) {
        const { stdout, code } = await runOnTerminal([process.execPath, cli, ...args], 120, {
          cwd: stage.folder,
        })
        expect(code).toBe(args[0] === 'diff' ? 1 : 0)
        expectHarmless(unstyled(stdout))
      }
    },
  )

  it('command no GitHub Actions that runs us', async () => {
    const says = '::stop-commands::x ##[add-mask]x'
    const lines = [
      { v: 1, type: 'meta', startedAt: '2026-08-01T10:00:00.000Z', label: says, command: ['x'] },
      { t: '2026-08-01T10:00:00.000Z', dir: 'in', raw: { jsonrpc: '2.0', id: says, method: says } },
      { t: '2026-08-01T10:00:01.000Z', dir: 'out', raw: { jsonrpc: '2.0', id: says, result: { says } } },
    ]
    writeFileSync(stage.path('actions.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const inActions = (args: string[], env: NodeJS.ProcessEnv = {}): ReturnType<typeof wiretape> =>
      wiretape(args, { cwd: stage.folder, env: plainEnv({ GITHUB_ACTIONS: 'true', ...env }) })
    const isCommand = (line: string): boolean => line.trimStart().startsWith('::') || line.includes('##[')
    for (const args of [
      ['inspect', '-v', 'actions.jsonl'],
      ['inspect', '--json', '-v', 'actions.jsonl'],
      ['inspect', '--check', says],
      ['convert', 'actions.jsonl', '-', '--to', 'csv'],
      ['convert', 'actions.jsonl', '-', '--to', 'trace-v1'],
      ['diff', 'actions.jsonl', 'other.jsonl'],
      ['diff', 'actions.jsonl', 'other.jsonl', '--json'],
    ]) {
      const { stdout, stderr } = await inActions(args)
      expect((stdout + stderr).includes('stop-commands')).toBe(true)
      expect(`${stdout}\n${stderr}`.split(/[\r\n]/).filter(isCommand)).toEqual([])
    }
    const json = await inActions(['inspect', '--json', '-v', 'actions.jsonl'])
    expect(JSON.parse(json.stdout).messages[1].payload.result.says).toBe(says)
    // Annotations are the only expected commands.
    const report = await inActions(['diff', 'actions.jsonl', 'other.jsonl', '--report', 'github=-'])
    const commands = report.stdout.split('\n').filter(isCommand)
    expect(commands.length).toBeGreaterThan(0)
    for (const command of commands) expect(command).toMatch(/^::(?:error|warning|notice) title=/)
    // Outside of GitHub Actions the text is unchanged.
    const plain = await inActions(['inspect', 'actions.jsonl'], { GITHUB_ACTIONS: '' })
    expect(plain.stdout.startsWith(says)).toBe(true)
  })
})
