import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** How to find the server's name in the arguments of a program that starts other programs. */
interface Launcher {
  /** Words that must follow the program (`pnpm dlx`, `uv tool run`); any one of the lists. */
  readonly verbs?: readonly (readonly string[])[]
  /** Options that take no value. The word after any other option may be its value, and is never shown. */
  readonly flags: readonly string[]
  readonly names: 'package' | 'script' | 'image'
  /** An option whose value is the name itself (`python -m server`). */
  readonly nameOption?: string
}

const npmFlags = [
  '-y',
  '--yes',
  '-q',
  '--quiet',
  '--silent',
  '--no-install',
  '--prefer-offline',
  '--prefer-online',
  '--offline',
  '--ignore-existing',
]
const npx: Launcher = { flags: npmFlags, names: 'package' }
const python: Launcher = {
  flags: ['-u', '-B', '-E', '-I', '-O', '-OO', '-s', '-S', '-q', '-v'],
  names: 'script',
  nameOption: '-m',
}
const runtime: Launcher = {
  flags: ['--enable-source-maps', '--no-warnings', '--watch', '--experimental-strip-types', '--smol'],
  names: 'script',
}
const container: Launcher = {
  verbs: [['run'], ['container', 'run']],
  flags: [
    '-i',
    '-t',
    '-it',
    '-ti',
    '-d',
    '--rm',
    '--init',
    '--interactive',
    '--tty',
    '--privileged',
    '--read-only',
  ],
  names: 'image',
}

const launchers: Readonly<Record<string, Launcher>> = {
  npx,
  bunx: npx,
  pnpx: npx,
  npm: { ...npx, verbs: [['exec'], ['x']] },
  pnpm: { ...npx, verbs: [['dlx'], ['exec']] },
  yarn: { ...npx, verbs: [['dlx']] },
  uvx: { flags: ['-q', '--quiet', '--offline', '--isolated', '--refresh'], names: 'package' },
  pipx: { flags: ['-q', '--quiet'], names: 'package', verbs: [['run']] },
  uv: {
    flags: ['-q', '--quiet', '--offline', '--isolated', '--frozen', '--no-sync'],
    names: 'script',
    verbs: [['run'], ['tool', 'run']],
  },
  node: runtime,
  nodejs: runtime,
  bun: { ...runtime, verbs: [['run'], []] },
  deno: {
    ...runtime,
    verbs: [['run']],
    flags: [
      '-A',
      '--allow-all',
      '--allow-net',
      '--allow-read',
      '--allow-env',
      '--allow-run',
      '--allow-write',
      '-q',
    ],
  },
  tsx: runtime,
  'ts-node': runtime,
  python,
  python3: python,
  docker: container,
  podman: container,
}

/** File names that say nothing about which server it is. */
const generic = new Set([
  'index',
  'main',
  'server',
  'cli',
  'app',
  'start',
  'run',
  'mod',
  'src',
  'dist',
  'build',
  'lib',
  'bin',
  'out',
  '__main__',
])

const packageName = /^(?:@[a-z0-9~-][\w.~-]*\/)?([a-z0-9~-][\w.~-]*?)(?:(?:@|==)[\w.^~*<>=+-]*)?$/i
const imageName = /^(?:[\w.-]+(?::\d+)?\/)?(?:[\w.-]+\/)*([\w.-]+)(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?$/i

/**
 * The name a person knows a server by: its package, script or binary. Only words whose place in the command
 * line is known are used, never an argument that could be a secret.
 *
 * @param command the server's argv, at least the program
 * @param cwd the folder that relative script paths are meant from
 */
export function defaultLabel(command: readonly string[], cwd: string): string {
  const words = withoutEnv(command)
  const program = programName(words[0] ?? '')
  const launcher = launchers[program.replace(/^(python3)\.\d+$/, '$1')]
  return (launcher && launchedName(launcher, words.slice(1), cwd)) ?? program
}

/** `env A=B program …` starts the program. */
function withoutEnv(command: readonly string[]): readonly string[] {
  if (programName(command[0] ?? '') !== 'env') return command
  const at = command.findIndex((word, i) => i > 0 && !word.includes('=') && !word.startsWith('-'))
  return at === -1 ? command : command.slice(at)
}

function programName(path: string): string {
  return (
    path
      .split(/[/\\]/)
      .at(-1)!
      .replace(/\.(?:exe|cmd|bat|ps1)$/i, '') || 'server'
  )
}

function launchedName(launcher: Launcher, args: readonly string[], cwd: string): string | undefined {
  const verbs = launcher.verbs ?? [[]]
  const verb = verbs.find((words) => words.every((word, i) => args[i] === word))
  if (!verb) return undefined
  const rest = args.slice(verb.length)
  const { names } = launcher
  for (let i = 0; i < rest.length; i += 1) {
    const word = rest[i]!
    if (word === launcher.nameOption) return moduleName(rest[i + 1])
    if (word === '--') continue
    if (!word.startsWith('-')) return nameOf(names, word, cwd)
    // An option that is not known to stand alone may be followed by its value.
    if (!word.includes('=') && !launcher.flags.includes(word)) i += 1
  }
  return undefined
}

function nameOf(names: Launcher['names'], word: string, cwd: string): string | undefined {
  if (names === 'image') return imageName.exec(word)?.[1]
  if (names === 'package' || (names === 'script' && !/[/\\.]/.test(word))) return packageName.exec(word)?.[1]
  return scriptName(resolve(cwd, word))
}

function moduleName(word: string | undefined): string | undefined {
  return word !== undefined && /^[A-Za-z_][\w.]*$/.test(word) ? word : undefined
}

/** The name of the package a script belongs to, else of the script, else of its folder. */
function scriptName(path: string): string | undefined {
  const own = basename(path).replace(/\.[a-z]+$/i, '')
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const name = packageNameIn(folder)
    if (name !== undefined) return name
    if (folder === dirname(folder)) break
  }
  if (!generic.has(own)) return own
  const parents = dirname(path)
    .split(/[/\\]/)
    .filter((part) => part !== '' && !generic.has(part))
  return parents.at(-1) ?? own
}

function packageNameIn(folder: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }
    return typeof name === 'string' ? packageName.exec(name)?.[1] : undefined
  } catch {
    return undefined
  }
}
