import { createHash } from 'node:crypto'
import { joinCommandLine } from '../../model/index.js'
import {
  createWithoutSecrets,
  describeTarget,
  type ReplayTarget,
  type WithoutSecrets,
} from '../../replay/index.js'
import { isOrigin, listTapes } from '../../tape/index.js'
import type { SavedServerShown } from '../../saved-calls/index.js'
import { recordingsIn } from '../data-folder.js'
import type { Io } from '../io.js'
import { originKeyIn } from '../keys.js'
import type { NamedServer } from '../saved/saved-servers.js'

/** Servers of saved calls, for a person who decides about them. @param secrets never displayed */
export async function shownServers(
  servers: readonly NamedServer[],
  secrets: readonly string[],
  io: Io,
): Promise<SavedServerShown[]> {
  const withoutSecrets = createWithoutSecrets(undefined, secrets)
  const known = await knownServers(io)
  return servers.map(({ direct }) => {
    const shown = describeTarget(direct)
    return {
      key: createHash('sha256').update(JSON.stringify(direct)).digest('base64url'),
      ...withoutSecrets({ shown, ...detailsOf(direct, withoutSecrets, io) }),
      isKnown: known.has(shown),
    }
  })
}

function detailsOf(
  direct: ReplayTarget,
  withoutSecrets: WithoutSecrets,
  io: Io,
): Pick<SavedServerShown, 'folder' | 'environment' | 'headers'> {
  // As JSON, so that the name of a value may tell that it is a secret.
  const shown = (values: unknown): [string, string][] => {
    const { params } = withoutSecrets({ params: JSON.stringify(values) })
    return Object.entries(JSON.parse(params) as Record<string, string>)
  }
  if ('url' in direct) {
    const headers = shown(Object.fromEntries(direct.headers ?? []))
    return { environment: [], headers: headers.map(([name, value]) => `${name}: ${value}`) }
  }
  const environment = shown(direct.env ?? {}).map(([name, value]) => `${name}=${value}`)
  return { folder: direct.cwd ?? io.cwd, environment, headers: [] }
}

/** Servers of recordings that this user made on this machine. */
async function knownServers(io: Io): Promise<Set<string>> {
  const key = originKeyIn(io.dataFolder)
  const tapes = key === undefined ? [] : await listTapes(recordingsIn(io.dataFolder)).catch(() => [])
  const known = new Set<string>()
  for (const { meta } of tapes) {
    const about = meta.wiretape
    if (!about) continue
    const { session, url, origin } = about
    if (isOrigin(key!, { session, command: meta.command, url }, origin))
      known.add(url ?? joinCommandLine(meta.command))
  }
  return known
}
