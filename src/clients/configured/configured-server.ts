import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { clientKinds, type Places } from '../catalogue/index.js'
import { readConfigFile } from '../config-file.js'
import { nodeAt, parseConfig, type ConfigNode, type ConfigSyntax } from '../config/index.js'
import { entryCwd, entryEnv, readEntries, type ServerEntry } from '../entry.js'
import { expand } from '../probe-remote.js'
import { readWrapping } from '../wrapping.js'
import { openBundle } from './bundle.js'
import { isRegistryEntry, readRegistryEntry } from './registry-entry.js'
import type { ConfiguredServer } from './configured.js'

const syntaxes: Readonly<Record<string, ConfigSyntax>> = { '.toml': 'toml', '.yaml': 'yaml', '.yml': 'yaml' }

/**
 * Reads a server from a client's configuration (of any client in the catalogue), an MCP bundle (`.mcpb`, `.dxt`), or an
 * entry of the MCP registry (`server.json`).
 *
 * @param name of the server; optional if there is only one
 * @throws WiretapeError that lists the servers or describes the file's problem
 */
export async function readConfiguredServer(
  path: string,
  name: string | undefined,
  places: Places,
): Promise<ConfiguredServer> {
  if (/\.(mcpb|dxt)$/i.test(path)) return openBundle(await bytesOf(path), path, places)
  const file = await readConfigFile(path).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new WiretapeError('unreadable', `cannot read ${path}: ${reason}`, { cause })
  })
  if (!file) throw new WiretapeError('unreadable', `cannot read ${path}: no such file`)
  const { root, fault } = parseConfig(file.text, syntaxes[extname(path).toLowerCase()] ?? 'json')
  if (fault) {
    const place = `line ${fault.line}, column ${fault.column}`
    throw new WiretapeError('unreadable', `cannot read ${path}: ${place}: ${fault.reason}`)
  }
  if (isRegistryEntry(root.value)) return readRegistryEntry(root.value, path)
  const found = entriesIn(root, places)
  const known = [...new Set(found.map(({ entry }) => entry.name))]
  const wanted = name ?? (known.length === 1 ? known[0] : undefined)
  const match = found.find(({ entry }) => entry.name === wanted)
  if (!match) {
    const which =
      name === undefined ? `${path} has ${known.length} servers` : `${path} has no server named ${name}`
    const hint =
      known.length === 0
        ? 'name the configuration file of an MCP client'
        : `choose one with --server: ${known.join(', ')}`
    throw new WiretapeError('usage', which, { hint })
  }
  return configuredServerOf(match.entry, match.dialect, path, places)
}

interface Found {
  readonly entry: ServerEntry
  readonly dialect: Parameters<typeof readEntries>[2]
}

/** Tries the places and dialects of all clients; for each server, keeps one that understands it. */
function entriesIn(root: ConfigNode, places: Places): Found[] {
  const found = new Map<string, Found>()
  for (const client of clientKinds) {
    for (const { servers, dialect } of client.places(places)) {
      if (nodeAt(root, servers) === undefined) continue
      for (const entry of readEntries(root, servers, dialect)) {
        const known = found.get(entry.name)
        if (!known || known.entry.launch.kind === 'other') found.set(entry.name, { entry, dialect })
      }
    }
  }
  return [...found.values()]
}

/**
 * The server that a client starts for an entry, with our environment's variables filled in.
 *
 * @throws WiretapeError with the reason if the entry is not understood
 */
export function configuredServerOf(
  entry: ServerEntry,
  dialect: Found['dialect'],
  path: string,
  { home, cwd: workspaceFolder }: Places,
): ConfiguredServer {
  const { name, node } = entry
  const wrapping = readWrapping(entry.launch)
  const launch = typeof wrapping === 'object' ? wrapping.original : entry.launch
  if (launch.kind === 'other')
    throw new WiretapeError('unreadable', `${name} in ${path}: ${launch.reason}`, {
      hint: 'correct its entry',
    })
  const variables = { ...process.env, workspaceFolder, userHome: home }
  const withOurs = (text: string): string => expand(text, variables)
  const env = Object.fromEntries(
    Object.entries(entryEnv(node, dialect)).map(([key, text]) => [key, withOurs(text)]),
  )
  const folder = entryCwd(node)
  const cwd = folder === undefined ? undefined : resolve(workspaceFolder, withOurs(folder))
  if (cwd !== undefined && !existsSync(cwd))
    throw new WiretapeError('unreadable', `${name} in ${path}: its working directory ${cwd} is missing`, {
      hint: 'correct its entry',
    })
  if (launch.kind === 'stdio') {
    const command = [launch.command, ...launch.args].map(withOurs)
    return { name, target: { kind: 'stdio', command }, env, ...(cwd !== undefined && { cwd }) }
  }
  // Header values of an installed entry are in its environment.
  const headers = launch.headers.map(([key, value]): readonly [string, string] => {
    const variable =
      typeof wrapping === 'object'
        ? [...wrapping.variables].find(([, header]) => header === key)?.[0]
        : undefined
    return [key, variable === undefined ? withOurs(value) : (env[variable] ?? '')]
  })
  return { name, target: { kind: 'remote', url: withOurs(launch.url), headers }, env: {} }
}

async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    const reason =
      cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? 'no such file' : String(cause)
    throw new WiretapeError('unreadable', `cannot read ${path}: ${reason}`, { cause })
  }
}
