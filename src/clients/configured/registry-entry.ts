import { WiretapeError } from '../../model/index.js'
import type { ConfiguredServer } from './configured.js'

/** An MCP registry entry: `server.json`, schema 2025-09-29 and later; older ones use snake case. */
export interface RegistryEntry {
  readonly name: string
  readonly packages?: readonly RegistryPackage[]
  readonly remotes?: readonly { readonly url?: string; readonly headers?: readonly RegistryInput[] }[]
}

interface RegistryPackage {
  readonly registryType?: string
  readonly registry_type?: string
  readonly identifier?: string
  readonly version?: string
  readonly runtimeHint?: string
  readonly runtimeArguments?: readonly RegistryInput[]
  readonly packageArguments?: readonly RegistryInput[]
  readonly environmentVariables?: readonly RegistryInput[]
}

interface RegistryInput {
  readonly type?: string
  readonly name?: string
  readonly value?: string
  readonly default?: string
  readonly isRequired?: boolean
}

export function isRegistryEntry(value: unknown): value is RegistryEntry {
  if (typeof value !== 'object' || value === null) return false
  const { name, packages, remotes } = value as Record<string, unknown>
  return typeof name === 'string' && (Array.isArray(packages) || Array.isArray(remotes))
}

type Runner = (pack: RegistryPackage, version: string) => string[]

const runners: Readonly<Record<string, Runner>> = {
  npm: ({ runtimeHint = 'npx', identifier = '' }, version) => [
    runtimeHint,
    '-y',
    `${identifier}${version && `@${version}`}`,
  ],
  pypi: ({ runtimeHint = 'uvx', identifier = '' }, version) => [
    runtimeHint,
    `${identifier}${version && `==${version}`}`,
  ],
  oci: ({ runtimeHint = 'docker', identifier = '' }, version) => [
    runtimeHint,
    'run',
    '-i',
    '--rm',
    identifier.includes(':') ? identifier : `${identifier}${version && `:${version}`}`,
  ],
  nuget: ({ runtimeHint = 'dnx', identifier = '' }, version) => [
    runtimeHint,
    `${identifier}${version && `@${version}`}`,
    '--yes',
  ],
}

/**
 * Chooses the first package that can be started, else the first remote.
 *
 * @throws WiretapeError that names the missing variables
 */
export function readRegistryEntry(entry: RegistryEntry, path: string): ConfiguredServer {
  const { name, packages = [], remotes = [] } = entry
  for (const pack of packages) {
    const runner = runners[pack.registryType ?? pack.registry_type ?? '']
    if (!runner || typeof pack.identifier !== 'string') continue
    const missing: string[] = []
    const words = (inputs: readonly RegistryInput[] = []): string[] =>
      inputs.flatMap((input) => {
        const value = input.value ?? input.default
        if (value === undefined && input.isRequired === true) missing.push(input.name ?? 'an argument')
        if (value === undefined) return []
        return input.type === 'named' && input.name !== undefined ? [input.name, value] : [value]
      })
    const env: Record<string, string> = {}
    for (const input of pack.environmentVariables ?? []) {
      const { name: variable = '', isRequired } = input
      const value = process.env[variable] ?? input.value ?? input.default
      if (value !== undefined) env[variable] = value
      else if (isRequired === true) missing.push(variable)
    }
    const [program = '', ...rest] = runner(pack, pack.version ?? '')
    const command = [program, ...words(pack.runtimeArguments), ...rest, ...words(pack.packageArguments)]
    if (missing.length > 0) {
      throw new WiretapeError('usage', `${name} needs values for ${missing.join(', ')}`, {
        hint: `set variables in the environment; pass arguments with: wiretape record -- ${command.join(' ')} ARGUMENTS`,
      })
    }
    return { name, target: { kind: 'stdio', command }, env }
  }
  const remote = remotes.find(({ url }) => typeof url === 'string')
  if (remote?.url === undefined)
    throw new WiretapeError(
      'unreadable',
      `cannot read ${path}: it has neither a package that wiretape can start nor a remote server`,
    )
  const headers = (remote.headers ?? []).flatMap(
    ({ name: header = '', value }): (readonly [string, string])[] => {
      const given = process.env[header.toUpperCase().replaceAll(/\W/g, '_')] ?? value
      return given === undefined ? [] : [[header, given]]
    },
  )
  return { name, target: { kind: 'remote', url: remote.url, headers }, env: {} }
}
