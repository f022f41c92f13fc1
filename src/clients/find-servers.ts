import {
  clientKinds,
  type ClientKind,
  type ConfigPlace,
  type ManagingFile,
  type Places,
} from './catalogue/index.js'
import { readConfigFile, type ConfigFile } from './config-file.js'
import { memberOf, parseConfig, type ConfigNode } from './config/index.js'
import { readEntries, type ServerEntry } from './entry.js'

/** A configuration file of a client that exists on this machine. */
export interface FoundFile {
  readonly client: ClientKind
  readonly place: ConfigPlace
  /** Absent if the file could not be read or parsed; `fault` has the reason. */
  readonly file?: ConfigFile
  readonly root?: ConfigNode
  readonly fault?: string
  readonly servers: readonly ServerEntry[]
}

export interface FoundClient {
  readonly client: ClientKind
  /** A file that decides which servers run. */
  readonly managedBy: string | undefined
  readonly files: readonly FoundFile[]
}

/**
 * Clients with a configuration on this machine, and their servers. A file at two places of a client (user and
 * project, if the project is the home folder) is found once.
 *
 * @param ids only these clients
 * @param folders of further projects
 */
export async function findClients(
  places: Places,
  ids: readonly string[] = [],
  folders: readonly string[] = [],
  kinds: readonly ClientKind[] = clientKinds,
): Promise<FoundClient[]> {
  const found: FoundClient[] = []
  for (const client of kinds) {
    if (ids.length > 0 && !ids.includes(client.id)) continue
    const files: FoundFile[] = []
    const seen = new Set<string>()
    const projects = [places.cwd, ...folders]
    for (const place of projects.flatMap((cwd) => client.places({ ...places, cwd }))) {
      const each = await findFile(client, place)
      const key = JSON.stringify([each?.file?.real ?? place.path, place.servers])
      if (!each || seen.has(key)) continue
      seen.add(key)
      files.push(each)
    }
    const managedBy = await managerOf(client.managedBy?.(places) ?? [])
    if (files.length > 0 || managedBy !== undefined) found.push({ client, managedBy, files })
  }
  return found
}

async function managerOf(files: readonly ManagingFile[]): Promise<string | undefined> {
  for (const { path, rules } of files) {
    const file = await readConfigFile(path).catch(() => undefined)
    if (!file) continue
    const { root } = parseConfig(file.text, path.endsWith('.toml') ? 'toml' : 'json')
    if (!rules || rules.some((key) => memberOf(root, key))) return path
  }
  return undefined
}

async function findFile(client: ClientKind, place: ConfigPlace): Promise<FoundFile | undefined> {
  try {
    const file = await readConfigFile(place.path)
    if (!file) return undefined
    // An empty file means a client without servers.
    if (file.text.trim() === '') return { client, place, file, servers: [] }
    const { root, fault } = parseConfig(file.text, place.syntax)
    if (fault) {
      const { reason, line, column } = fault
      return { client, place, file, fault: `line ${line}, column ${column}: ${reason}`, servers: [] }
    }
    return { client, place, file, root, servers: readEntries(root, place.servers, place.dialect) }
  } catch (error) {
    return { client, place, fault: error instanceof Error ? error.message : String(error), servers: [] }
  }
}
