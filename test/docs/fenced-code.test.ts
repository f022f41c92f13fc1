/**
 * Code in the documents is valid: TypeScript compiles, JSON and YAML parse, command lines have only existing options.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseSettingsFile } from '../../src/compare/index.js'
import { parseSavedCalls } from '../../src/saved-calls/index.js'
import { parsePolicy } from '../../src/policy/index.js'
import { splitCommandLine } from '../../src/model/index.js'
import { leftOut, run, wiretape } from '../behaviour/run-cli.js'
import { blocks, commands, root, type Block } from './pages.js'

const inLanguage = (...languages: readonly string[]): [place: string, block: Block][] =>
  blocks
    .filter(({ language }) => languages.includes(language))
    .map((block) => [`${block.page}:${block.line}`, block])

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(os.tmpdir(), 'wiretape-docs-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('knows the language of every block', () => {
  const known = new Set(['ts', 'py', 'json', 'jsonl', 'yaml', 'ini', 'sh', 'console', 'text'])
  expect(blocks.filter(({ language }) => !known.has(language))).toEqual([])
  expect(blocks.length).toBeGreaterThan(20)
})

it('TypeScript passes tsc --strict, the blocks of a page as one program', async () => {
  // Inside of the package, which can then import itself by name.
  const place = join(root, 'build', 'docs-code')
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  const files = [...new Set(inLanguage('ts').map(([, { page }]) => page))].map((page) => {
    const file = join(place, `${page.replaceAll(/\W/g, '-')}.ts`)
    const code = inLanguage('ts')
      .filter(([, block]) => block.page === page)
      .map(([, { text }]) => text)
    writeFileSync(file, code.join('\n'))
    return file
  })
  expect(files.length).toBeGreaterThan(1)
  const options =
    '--ignoreConfig --strict --noEmit --skipLibCheck --target es2023 --module nodenext --types node'.split(
      ' ',
    )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { code, stdout } = await run([process.execPath, tsc, ...options, ...files], { cwd: root })
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
})

it.each(inLanguage('json'))('%s is JSON', (_, { text }) => {
  expect(() => JSON.parse(text) as unknown).not.toThrow()
})

it.each(inLanguage('jsonl'))('%s has JSON in each line, except for omitted parts', (_, { text }) => {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^[←→] /, ''))
  for (const line of lines.filter((one) => !/…[\]}]|,…/.test(one)))
    expect(() => JSON.parse(line) as unknown).not.toThrow()
})

const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).status === 0

it
  .skipIf(leftOut(hasProgram('systemd-analyze'), 'systemd units, which need systemd-analyze'))
  .each(inLanguage('ini').filter(([, { text }]) => text.startsWith('[Unit]')))(
  '%s is a unit of systemd',
  async (_, { text }) => {
    const unit = join(folder, 'collector.service')
    // The program and its file of variables are not here.
    writeFileSync(unit, text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    const { code, stdout, stderr } = await run(['systemd-analyze', 'verify', unit])
    expect({
      code,
      said: (stdout + stderr).split('\n').filter((line) => line.includes('collector.service')),
    }).toEqual({
      code: 0,
      said: [],
    })
  },
)

it.each(inLanguage('yaml'))('%s is read by the program', async (_, { text }) => {
  if (/^expect-tool:/m.test(text)) {
    writeFileSync(join(folder, 'wiretape.check.yaml'), text)
    const tape = join(root, 'test/fixtures/cli/faultless.jsonl')
    const { stdout, stderr } = await wiretape(['check', tape], { cwd: folder })
    return expect({ stdout, stderr }).toMatchObject({
      stdout: expect.stringMatching(/^expectations of /),
      stderr: '',
    })
  }
  if (/^ {4}request:/m.test(text)) {
    const sources = { given: new Map(), env: { SHOP_TOKEN: 'sesame' } }
    const reading = parseSavedCalls(text, sources, { names: new Set(), secrets: new Set() })
    return expect(reading).toMatchObject({
      diagnostics: [],
      calls: expect.arrayContaining([expect.anything()]),
    })
  }
  if (/^(?:services|# yaml-language-server):/m.test(text)) return expect(parse(text)).toBeDefined()
  if (/^record:/m.test(text)) return expect(parsePolicy('policy.yaml', text).diagnostics).toEqual([])
  // A GitHub workflow: its commands are tested with the recipes.
  if (/^jobs:/m.test(text)) return expect(parse(text)).toHaveProperty('jobs')
  if (!/^rules:/m.test(text)) return expect(parseSettingsFile(text)).not.toHaveProperty('fault')
  const file = join(folder, 'rules.yaml')
  writeFileSync(file, text)
  expect(await wiretape(['rules', 'check', file])).toMatchObject({ code: 0 })
})

it('redaction rules are accepted by record', async () => {
  const [, block] = inLanguage('json').find(([, { page }]) => page === 'docs/redaction.md')!
  const file = join(folder, 'redact.json')
  writeFileSync(file, block.text)
  const argv = ['record', '--redact-file', file, '--out', folder, '--', process.execPath, '-e', '']
  expect(await wiretape(argv)).toMatchObject({ code: 0, stderr: '' })
})

/** wiretape command lines: in shell blocks, after a prompt in sessions, and in clients' configurations. */
const commandLines: readonly (readonly [place: string, words: readonly string[]])[] = [
  ...commands
    .map(({ text, ...place }) => ({ ...place, text: text.split(' | ')[0]!.replace(/ > .*/, '') }))
    .filter(({ text }) => text.startsWith('wiretape '))
    .map(({ page, line, text }): [string, string[]] => {
      const split = splitCommandLine(text)
      if ('fault' in split) throw new Error(`${page}:${line}: ${split.fault}`)
      return [`${page}:${line} ${text}`, split.words.slice(1)]
    }),
  ...inLanguage('json').flatMap(([place, { text }]) =>
    argumentsIn(JSON.parse(text)).map((words): [string, readonly string[]] => [
      `${place} ${words.join(' ')}`,
      words,
    ]),
  ),
  ...serviceLines(),
]

/** Command lines of systemd units, and the commands of compose files. */
function serviceLines(): (readonly [place: string, words: readonly string[]])[] {
  const units = inLanguage('ini').flatMap(([place, { text }]) =>
    [...text.matchAll(/^ExecStart=(.*)$/gm)].map(([, line]): [string, readonly string[]] => {
      const split = splitCommandLine(line!)
      if ('fault' in split) throw new Error(`${place}: ${split.fault}`)
      return [place, split.words]
    }),
  )
  return [...units, ...composeLines()].flatMap(([place, words]) => {
    const start = words.findIndex((word) => /^(?:.*\/)?wiretape$/.test(word))
    const own = words.slice(start + 1)
    return start < 0 ? [] : [[`${place} ${own.join(' ')}`, own] as const]
  })
}

function composeLines(): [place: string, words: readonly string[]][] {
  return inLanguage('yaml').flatMap(([place, { text }]) => {
    if (!/^services:/m.test(text)) return []
    const { services } = parse(text) as { services: Record<string, { command: string[] }> }
    return Object.values(services).map(({ command }): [string, readonly string[]] => [place, command])
  })
}

function argumentsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return []
  const { command, args } = value as { command?: unknown; args?: string[] }
  const own = typeof command === 'string' && /wiretape/.test(command) && args ? [args] : []
  return [...own, ...Object.values(value).flatMap(argumentsIn)]
}

const helps = new Map<string, Promise<string>>()
function helpOf(command: readonly string[]): Promise<string> {
  const name = command.join(' ')
  const help = helps.get(name) ?? wiretape([...command, '--help']).then(({ stdout }) => stdout)
  helps.set(name, help)
  return help
}

describe('a command line', () => {
  it('exists in the documents', () => {
    expect(commandLines.length).toBeGreaterThan(20)
  })

  it('stands in the unit and the compose file of a collector', () => {
    expect(serviceLines().map(([, [command]]) => command)).toEqual(['collect', 'collect'])
  })

  it.each(commandLines)('%s: the command and its options exist', async (_, words) => {
    const dashes = words.indexOf('--')
    const own = dashes < 0 ? words : words.slice(0, dashes)
    const isGroup = ['proxy', 'trace', 'rules'].includes(own[0]!)
    const command = own.slice(0, isGroup ? 2 : 1)
    const stdout = await helpOf(command)
    expect(stdout).toContain(`Usage: wiretape ${command.join(' ')}`)
    const flags = own.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]!)
    const known = stdout.match(/(?<=[\s,])--?[a-z][\w-]*/g) ?? []
    expect(known).toEqual(expect.arrayContaining(flags))
  })
})
