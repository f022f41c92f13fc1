import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { launchers, type Launcher } from './launchers.js'

/** File names that do not identify a server. */
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
 * A server's familiar name: its package, script or binary. Only words whose role in the command line is certain
 * are used, never an argument that could be a secret.
 *
 * @param command the server's argv, at least the program
 * @param cwd the folder to which script paths are relative
 */
export function defaultLabel(command: readonly string[], cwd: string): string {
  const [path = '', ...args] = withoutWrapper(command)
  const program = programName(path)
  return launchedName(program, args, cwd) ?? program
}

/** Options of `env` without a value, and options whose value is the next word. */
const envFlags = ['-', '-i', '--ignore-environment', '-v', '--debug']
const envValued = ['-u', '--unset', '-C', '--chdir']

/** `env A=B program …` and `cmd /c program …` start the program. */
function withoutWrapper(command: readonly string[]): readonly string[] {
  const wrapper = programName(command[0] ?? '')
  if (wrapper === 'cmd' && command[1]?.toLowerCase() === '/c' && command.length > 2) return command.slice(2)
  if (wrapper !== 'env') return command
  for (let at = 1; at < command.length; at += 1) {
    const word = command[at]!
    if (envValued.includes(word)) at += 1
    else if (word.startsWith('-') && !envFlags.includes(word)) return command
    else if (!word.startsWith('-') && !word.includes('=')) return command.slice(at)
  }
  return command
}

function programName(path: string): string {
  return (
    path
      .split(/[/\\]/)
      .at(-1)!
      .replace(/\.(?:exe|cmd|bat|ps1)$/i, '') || 'server'
  )
}

function launchedName(program: string, args: readonly string[], cwd: string): string | undefined {
  const key = program.replace(/^(python3)\.\d+$/, '$1')
  if (!Object.hasOwn(launchers, key)) return undefined
  for (const launcher of launchers[key]!) {
    const verbs = (launcher.verbs ?? [[]]).map((words) => afterVerb(launcher, words, args))
    const rest = verbs.find((words) => words !== undefined)
    if (rest) return nameAfterOptions(launcher, rest, cwd)
  }
  return undefined
}

/** The words after the verb, which options of the program may precede; undefined if it is another verb. */
function afterVerb(
  launcher: Launcher,
  verb: readonly string[],
  args: readonly string[],
): readonly string[] | undefined {
  const at = verb.length === 0 ? 0 : firstWord(launcher, args)
  if (at === undefined || !verb.every((word, i) => args[at + i] === word)) return undefined
  return args.slice(at + verb.length)
}

function nameAfterOptions(launcher: Launcher, args: readonly string[], cwd: string): string | undefined {
  const at = firstWord(launcher, args)
  if (at === undefined) return undefined
  const word = args[at]!
  if (word === launcher.nameOption) return moduleName(args[at + 1])
  const name = nameOf(launcher.names, word, cwd)
  // `npx tsx server.ts`: the started program starts another one.
  if (name === undefined || launcher.names !== 'package') return name
  return launchedName(name, args.slice(at + 1), cwd) ?? name
}

/** Index of the first word that is neither an option nor an option's value; undefined if that is not certain. */
function firstWord(launcher: Launcher, args: readonly string[]): number | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!
    if (word === '--') return at + 1 < args.length ? at + 1 : undefined
    if (!word.startsWith('-') || word === launcher.nameOption) return at
    if (launcher.valued.includes(word)) at += 1
    else if (!launcher.flags.includes(word) && !/^--[\w-]+=/.test(word)) return undefined
  }
  return undefined
}

function nameOf(names: Launcher['names'], word: string, cwd: string): string | undefined {
  if (names === 'image') return imageName.exec(word)?.[1]
  const specifier = /^(?:npm|jsr):(.*)$/.exec(word)?.[1]
  if (specifier !== undefined) return packageName.exec(specifier)?.[1]
  if (names === 'package' || !/[/\\.]/.test(word)) return packageName.exec(word)?.[1]
  // A URL may contain secrets.
  if (/^[a-z][\w+-]+:/i.test(word)) return undefined
  return scriptName(resolve(cwd, word), names === 'script')
}

function moduleName(word: string | undefined): string | undefined {
  return word !== undefined && /^[A-Za-z_][\w.]*$/.test(word) ? word : undefined
}

/** The name of the package to which a script belongs, else of the script, else of its folder. */
function scriptName(path: string, hasPackage: boolean): string | undefined {
  const own = basename(path).replace(/\.[a-z]+$/i, '')
  const installed = /[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?([^/\\]+)(?![^]*[/\\]node_modules[/\\])/.exec(
    path,
  )?.[1]
  if (installed !== undefined) return installed === '.bin' ? own : installed
  for (let folder = dirname(path); hasPackage; folder = dirname(folder)) {
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
