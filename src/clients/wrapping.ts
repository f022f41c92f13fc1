import type { Launch } from './entry.js'

/** File name of the launcher, which identifies our entries. */
export const launcherName = 'wiretape-launcher'

/** Parsed arguments of a recording entry. */
export interface Wrapping {
  readonly original: Exclude<Launch, { kind: 'other' }>
  /** Number of words before the original arguments. */
  readonly prefix: number
  /** Index of the argument that is the original command or URL. */
  readonly target: number
  /** The original entry had no arguments. */
  readonly bare: boolean
  /** Of a remote entry: the member with its URL, and its transport value (empty: none). */
  readonly urlKey: string
  readonly kindWord: string
  /** Of a remote entry: the environment variable of each header. */
  readonly variables: ReadonlyMap<string, string>
  /** Client id in the metadata of its recordings. */
  readonly client: string | undefined
}

export interface WrapOptions {
  /** Absolute path of the launcher. */
  readonly launcher: string
  /** `--label`: the server's name. */
  readonly label: string
  /** The client's id, for the recording's metadata. */
  readonly client: string
  /** `--keep` of the recordings. */
  readonly keep: string
  /** More options of `record`. */
  readonly more: readonly string[]
}

function ownWords({ label, client, keep, more }: WrapOptions): string[] {
  return ['--label', labelOf(label), '--meta', `client=${client}`, '--keep', keep, ...more]
}

/** A name without white space: some clients join the arguments into a shell command line. */
export function labelOf(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}._@-]+/gu, '-').slice(0, 100) || 'server'
}

/** The words before the original arguments, from `record` to the original command. */
export function stdioWords(command: string, bare: boolean, options: WrapOptions): string[] {
  const shape = bare ? ['--meta', 'entry=bare'] : []
  return ['record', ...ownWords(options), ...shape, '--', command]
}

export function remoteWords(
  launch: Extract<Launch, { kind: 'remote' }>,
  urlKey: string,
  kindWord: string,
  options: WrapOptions,
): string[] {
  const headers = launch.headers.flatMap(([name]) => ['--header', `${name}: \${${variableOf(name)}}`])
  const shape = ['--meta', `entry=${urlKey}:${kindWord}`]
  return ['record', '--bridge', ...ownWords(options), ...shape, '--url', launch.url, ...headers]
}

/** The environment variable that carries a header's value. */
export function variableOf(header: string): string {
  return `WIRETAPE_HEADER_${header.replaceAll(/\W/g, '_').toUpperCase()}`
}

/** Parses the words of an entry; undefined if it is not ours, `damaged` if it is incomplete. */
export function readWrapping(launch: Launch): Wrapping | 'damaged' | undefined {
  if (launch.kind !== 'stdio' || !isLauncher(launch.command)) return undefined
  const { args } = launch
  if (args[0] !== 'record') return 'damaged'
  const options = new Map<string, string[]>()
  for (let at = 1; at < args.length; at += 1) {
    const word = args[at]!
    if (word === '--') {
      const command = args[at + 1]
      if (command === undefined) return 'damaged'
      const rest = args.slice(at + 2)
      const original = { kind: 'stdio', command, args: rest } as const
      const bare = rest.length === 0 && (options.get('--meta') ?? []).includes('entry=bare')
      return {
        original,
        prefix: at + 2,
        target: at + 1,
        bare,
        urlKey: '',
        kindWord: '',
        variables: new Map(),
        client: clientOf(options),
      }
    }
    if (!word.startsWith('--')) return 'damaged'
    if (switches.has(word)) options.set(word, [])
    else options.set(word, [...(options.get(word) ?? []), args[(at += 1)] ?? ''])
  }
  return remoteOf(options, args)
}

function clientOf(options: ReadonlyMap<string, readonly string[]>): string | undefined {
  return options
    .get('--meta')
    ?.find((pair) => pair.startsWith('client='))
    ?.slice('client='.length)
}

const switches = new Set(['--bridge', '--quiet'])

function remoteOf(
  options: ReadonlyMap<string, readonly string[]>,
  args: readonly string[],
): Wrapping | 'damaged' {
  const url = options.get('--url')?.[0]
  const shape = (options.get('--meta') ?? []).find((pair) => pair.startsWith('entry='))
  const [urlKey = '', kindWord = ''] = shape?.slice('entry='.length).split(':') ?? []
  if (!options.has('--bridge') || url === undefined || urlKey === '') return 'damaged'
  const variables = new Map<string, string>()
  for (const header of options.get('--header') ?? []) {
    const match = /^([^:]+): \$\{(\w+)\}$/.exec(header)
    if (!match) return 'damaged'
    variables.set(match[2]!, match[1]!)
  }
  const headers = [...variables.values()].map((name) => [name, ''] as const)
  const original = { kind: 'remote', url, headers } as const
  const target = args.indexOf('--url') + 1
  return {
    original,
    prefix: args.length,
    target,
    bare: false,
    urlKey,
    kindWord,
    variables,
    client: clientOf(options),
  }
}

/** Accepts both separators, since another system may have written the configuration. */
function isLauncher(command: string): boolean {
  const name = command.split(/[/\\]/).at(-1)!
  return name === launcherName || name === `${launcherName}.cmd`
}
