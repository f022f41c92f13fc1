import { createOrigins, type MetaRecord, type TapeRecord } from '../../model/index.js'
import { originOf } from '../foreign/origin.js'

/** One server of a recording, as far as messages identify servers. */
interface Server {
  readonly name: string
  /** Name of the first named conversation with it. */
  conversation: string | undefined
}

/** No data is lost: the recording shows the server of each message. */
export const severalServersCode = 'several-servers'

/** Maximum number of distinguished servers. */
const most = 1000

/** The servers of a recording, found from its messages: published traces have one per file. */
export interface SeveralServers {
  see(record: TapeRecord): void
  /** The problem and its solution; undefined for one server. */
  readonly problem: { readonly message: string; readonly hint: string } | undefined
}

/** Takes the records of a recording in order. */
export function createSeveralServers(): SeveralServers {
  const servers = new Map<string, Server>()
  let originFor: ReturnType<typeof createOrigins> | undefined
  let own = ''

  function begin(meta: MetaRecord): void {
    const { transport = 'stdio', url = null, metadata = [] } = meta.wiretape ?? {}
    own = url === null ? '' : originOf(url)
    originFor = createOrigins({ transport, url, label: own === '' ? meta.label : own, metadata })
  }

  return {
    see(record) {
      if (record.type === 'meta') begin(record)
      if (record.type !== 'message') return
      const { conversation, http } = record
      // A response has no path; the earlier request had it.
      if (http && http.path === undefined && servers.size > 0) return
      const origin = http?.path === undefined || http.path.startsWith('/') ? '' : originOf(http.path)
      const label = originFor?.(conversation).label ?? ''
      // A path with another origin than the recording's: an archive of a client with several servers.
      const name = origin === '' || origin === own ? label : origin
      const server = servers.get(name)
      if (server) server.conversation ??= conversation
      else if (servers.size < most) servers.set(name, { name, conversation })
    },
    get problem() {
      if (servers.size < 2) return undefined
      const names = [...servers.values()].map(({ name }) => name)
      const named = names.slice(0, 4).join(', ') + (names.length > 4 ? `, ${names.length - 4} more` : '')
      const conversation = [...servers.values()].findLast((server) => server.conversation)?.conversation ?? ''
      const filter = `conv:${JSON.stringify(conversation)}`
      return {
        message: `${names.length} servers in one file (${named}); trace v1 describes one server per file`,
        hint: `extract one with wiretape convert --filter '${filter}'`,
      }
    },
  }
}
