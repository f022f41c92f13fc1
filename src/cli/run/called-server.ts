import { WiretapeError } from '../../model/index.js'
import type { SavedServer } from '../../saved-calls/index.js'
import { parseHeader } from '../header-option.js'
import { parseHttpUrl } from '../http-url-option.js'
import type { Io } from '../io.js'

/** Options that name a server. */
export interface ServerOptions {
  readonly server?: string
  readonly url?: string
  readonly header?: readonly string[]
}

/** The server of the command line, in the form of a file of saved calls. */
export function serverOf(
  command: readonly string[],
  { server, url, header = [] }: ServerOptions,
): SavedServer {
  if (command.length > 0) return { command, env: {} }
  if (url === undefined) return { client: server! }
  const headers = header.map((text) => parseHeader(text, process.env))
  return { url, headers: headers.map(({ name, value }) => [name, value] as const) }
}

/** Arguments that make `wiretape record` a stdio server in front of the called server. */
export async function recorderOf(
  command: readonly string[],
  { server, url, header = [] }: ServerOptions,
  io: Io,
): Promise<string[]> {
  if (command.length > 0) return ['--', ...command]
  if (url !== undefined) {
    parseHttpUrl(url, '--url')
    return ['--bridge', '--url', url, ...header.flatMap((text) => ['--header', text])]
  }
  const [{ findClients }, { placesOf }] = await Promise.all([
    import('../../clients/index.js'),
    import('./install.js'),
  ])
  const known: string[] = []
  for (const { files } of await findClients(placesOf(io)))
    for (const { place, servers } of files)
      for (const { name } of servers) {
        if (name === server) return ['--config', place.path, '--server', name]
        known.push(name)
      }
  throw new WiretapeError('usage', `no client has the server ${JSON.stringify(server)}`, {
    hint:
      known.length > 0
        ? `known servers: ${[...new Set(known)].slice(0, 20).join(', ')}`
        : 'wiretape status lists them',
  })
}
