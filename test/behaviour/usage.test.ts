import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRecordArgs } from '../../src/cli/record-options.js'
import { fixtures, leftOut, plainEnv, wiretape, type Run, wiretapeIn } from './run-cli.js'
import { useStage } from './stage.js'
import { runs } from '../long.js'

const packageJson = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
const faultless = readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8')

const stage = useStage()

const here = wiretapeIn(stage)
const refused = (args: readonly string[]): Promise<Run> =>
  wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env), isRefused: true })

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()

/** Expects one line on stderr, nothing on stdout, exit 2, and an unchanged folder. */
async function refuses(args: readonly string[], line: string | RegExp): Promise<void> {
  const before = filesOf(stage.folder)
  const { code, stdout, stderr } = await refused(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  if (typeof line === 'string') expect(stderr).toBe(`wiretape: ${line}\n`)
  else expect(stderr).toMatch(line)
  expect(stderr.split('\n')).toHaveLength(2)
  expect(filesOf(stage.folder)).toEqual(before)
}

describe('a file that is not a recording', () => {
  const cases: readonly [string, string | Uint8Array, RegExp][] = [
    ['nothing', '', /bad\.jsonl is empty/],
    ['text', 'hello\nworld\n', /bad\.jsonl\b.*not a recording/],
    ['binary', new Uint8Array(5000).map((_, i) => (i * 7919) % 256), /bad\.jsonl\b.*not a recording/],
    ['half a JSON', faultless.slice(0, 60), /bad\.jsonl\b.*line 1\b/],
    ['other JSON', '{"hello":"world"}\n', /bad\.jsonl\b.*not a recording/],
    ['an array', '[1,2,3]\n', /bad\.jsonl\b.*not a recording/],
    [
      'a later version',
      faultless.replace('{"v":1', '{"v":2'),
      /bad\.jsonl: line 1 has trace version 2; wiretape reads version 1/,
    ],
    ['no version', faultless.replace('{"v":1,', '{'), /bad\.jsonl: line 1 has no version/],
    [
      'a later version further on',
      faultless + faultless.replace('{"v":1', '{"v":2'),
      /bad\.jsonl: line 6 has trace version 2/,
    ],
  ]
  for (const command of ['inspect', 'recover']) {
    it.each(cases)(`${command} refuses %s`, async (_, content, line) => {
      writeFileSync(stage.path('bad.jsonl'), content)
      await refuses([command, 'bad.jsonl'], line)
    })
    it(`${command} refuses a folder, and a missing file`, async () => {
      mkdirSync(stage.path('folder'))
      await refuses([command, 'folder'], 'folder is a folder (Name a file in it.)')
      await refuses([command, 'missing.jsonl'], 'cannot read missing.jsonl: no such file')
    })
    it(`${command} refuses an unreadable file`, async () => {
      if (leftOut(process.geteuid?.() !== 0, 'root may read every file')) return
      writeFileSync(stage.path('secret.jsonl'), faultless)
      chmodSync(stage.path('secret.jsonl'), 0)
      await refuses([command, 'secret.jsonl'], 'cannot read secret.jsonl: permission denied')
    })
  }

  it('needs a name, and may be stdin only once', async () => {
    for (const command of [['inspect'], ['convert', 'out.jsonl']]) {
      const [name, ...more] = command
      await refuses([name!, '', ...more], 'an input name is empty (- is stdin)')
      await refuses([name!, '-', '-', ...more], 'stdin is given twice (stdin can be read only once)')
    }
  })

  it('is named also beside valid files, and when it comes on stdin', async () => {
    writeFileSync(stage.path('bad.jsonl'), 'hello\n')
    await refuses(['inspect', join(fixtures, 'faultless.jsonl'), 'bad.jsonl'], /bad\.jsonl/)
    await refuses(['inspect', '-'], 'stdin is empty')
  })

  it('ls refuses a path that is not a folder', async () => {
    writeFileSync(stage.path('file'), '')
    await refuses(['ls', 'file'], 'cannot list file: it is not a folder')
  })
})

describe('a command line', () => {
  it.each<[string, string[], string | RegExp]>([
    ['with an unknown command', ['inspekt'], /unknown command 'inspekt'.*inspect.*\(see wiretape --help\)/],
    [
      'with an unknown option',
      ['inspect', '--chekc', 'x'],
      /unknown option '--chekc'.*--check.*\(see wiretape inspect --help\)/,
    ],
    ['with an unknown option before the command', ['--json', 'inspect', 'x'], /unknown option '--json'/],
    ['without a file', ['inspect'], "missing required argument 'file' (see wiretape inspect --help)"],
    ['with too many folders', ['ls', 'a', 'b'], /too many arguments for 'ls'/],
    ['that records nothing', ['record'], /a server is needed.*--url/],
    ['that records nothing after --', ['record', '--label', 'x', '--'], /a server is needed/],
    [
      'that records with an unknown option',
      ['record', '--lable', 'x', '--', 'true'],
      /unknown option '--lable'.*--label/,
    ],
    ['that records with an option without its value', ['record', '--out'], /argument missing/],
    [
      'that records metadata without a value',
      ['record', '--meta', 'x', '--', 'true'],
      /Use the form KEY=VALUE/,
    ],
    ['that records with a size that is none', ['record', '--max-bytes', 'x', '--', 'true'], /Use a size/],
    [
      'that records with a number that is none',
      ['record', '--max-bytes', '1MB', '--max-files', '0', '--', 'true'],
      /Use a whole number, at least 1/,
    ],
    [
      'that limits the files without their size',
      ['record', '--max-files', '3', '--', 'true'],
      /--max-files needs --max-bytes/,
    ],
    ['that records an empty command', ['record', '--', ''], 'the server command is empty'],
    [
      'that shares a server that is not listened for',
      ['record', '--shared', '--', 'true'],
      '--shared requires --listen and a command',
    ],
    [
      'that bridges and listens',
      ['record', '--bridge', '--url', 'http://x/', '--listen', '0'],
      '--bridge and --listen cannot be combined: the client starts a bridge',
    ],
    [
      'that sends a header without its variable',
      ['record', '--bridge', '--url', 'http://x/', '--header', 'A: ${NOT_SET}'],
      /^wiretape: --header A: unknown variable NOT_SET \(set it in the environment/,
    ],
    [
      'that sends a header over a proxy',
      ['record', '--url', 'http://x/', '--header', 'A: ${NOT_SET}'],
      '--header requires --bridge',
    ],
    [
      'that keeps a session file of many servers',
      ['record', '--forward', '--session-file', 's.json', '--', 'true'],
      '--session-file and --forward cannot be combined: --forward writes a tape for each server (convert each tape with wiretape convert TAPE FILE.json)',
    ],
    [
      'that starts a proxy with an option of another',
      ['proxy', 'start', '--target-command', 'true', '--insecure'],
      '--insecure requires --url, --bridge or --forward',
    ],
    [
      'that says twice where clients connect',
      ['proxy', 'start', '--target-command', 'true', '--listen', '1', '--listen-port', '2'],
      '--listen and --listen-port cannot be combined (see wiretape proxy start --help)',
    ],
  ])('%s gets one line and exit 2, and creates nothing', async (_, args, line) => {
    await refuses(args, line)
  })

  it('with control characters is repeated without them', async () => {
    await refuses(
      ['inspect', '--\u001b[31m\u202e'],
      /^wiretape: unknown option '--\\u\{1b\}\[31m\\u\{202e\}'/,
    )
    await refuses(
      ['inspect', 'no\u001b]52;c;QQ==\u0007\nthing'],
      String.raw`cannot read no\u{1b}]52;c;QQ==\u{7}\nthing: no such file`,
    )
  })
})

describe('help', () => {
  it('prints the version, and nothing else', async () => {
    for (const option of ['--version', '-V'])
      expect(await here(option)).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' })
  })

  it.each([
    [''],
    ['record'],
    ['proxy'],
    ['proxy start'],
    ['proxy inspect'],
    ['proxy export'],
    ['proxy replay'],
    ['inspect'],
    ['convert'],
    ['diff'],
    ['check'],
    ['cost'],
    ['explain'],
    ['pin'],
    ['call'],
    ['codegen'],
    ['replay'],
    ['run'],
    ['mock'],
    ['import'],
    ['trace import-mcp'],
    ['ls'],
    ['search'],
    ['stats'],
    ['sql'],
    ['collect'],
    ['prune'],
    ['tail'],
    ['recover'],
    ['ui'],
    ['mcp'],
    ['install'],
    ['uninstall'],
    ['status'],
    ['doctor'],
  ])('of %s fits 80 columns and shows an example', async (command) => {
    const { stdout, stderr, code } = await here(...command.split(' ').filter((word) => word !== ''), '--help')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(new RegExp(`^Examples:\n  wiretape ${command}`, 'm'))
    expect(stdout.split('\n').filter((line) => line.length > 82)).toEqual([])
    await expect(stdout).toMatchFileSnapshot(
      join(fixtures, 'expected', `help${command && `-${command.replace(' ', '-')}`}.txt`),
    )
  })
})

describe('the quick parser of record', () => {
  const words = [
    '--',
    '-',
    '-o',
    '-q',
    '-oX',
    '--out',
    '--out=a=b',
    '--label',
    '--quiet',
    '--quiet=1',
    '--meta',
    'a=b',
    '--max-bytes',
    '5MB',
    '--strict-v1',
    '--redact',
    '--no-redact-defaults',
    '--session-file',
    '-h',
    '--help',
    'node',
    's.js',
    '',
    '-x',
    '--nope',
  ]

  it('understands a command line as the full parser does, or leaves it to that one', async () => {
    const { Command } = await import('commander')
    const { registerRecord } = await import('../../src/cli/commands/record.js')
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 8 }), (args) => {
        const quick = parseRecordArgs(args)
        if (!quick) return
        const program = new Command('wiretape').enablePositionalOptions().exitOverride()
        registerRecord(program, {} as never, { code: 0 })
        const record = program.commands[0]!.exitOverride().configureOutput({ writeErr: () => undefined })
        let said: unknown
        record.action((command: string[], options: object) => {
          said = { command, options }
        })
        program.parse(['record', ...args], { from: 'user' })
        expect(quick).toEqual(said)
      }),
      { numRuns: runs(5_000) },
    )
  })

  it('understands the usual command lines', () => {
    expect(parseRecordArgs(['--', 'node', '--inspect'])).toEqual({
      command: ['node', '--inspect'],
      options: { oauthRewrite: true, redactDefaults: true },
    })
    expect(parseRecordArgs(['-o', 'x', '--meta', 'a=1', '--meta=b=2', '-q', 'npx', '--', 'y'])).toEqual({
      command: ['npx', '--', 'y'],
      options: {
        out: 'x',
        oauthRewrite: true,
        redactDefaults: true,
        quiet: true,
        meta: [
          ['a', '1'],
          ['b', '2'],
        ],
      },
    })
  })
})
