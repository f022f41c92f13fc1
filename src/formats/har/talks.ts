import { detach, type HttpHeaders } from '../../model/index.js'
import { originOf } from '../foreign/origin.js'
import { headerOf } from '../http-transcript/headers.js'

/** Parts of an exchange that identify its conversation. */
interface Sent {
  readonly url: string
  readonly requestHeaders: HttpHeaders
  readonly headers: HttpHeaders
}

/** Conversations with one origin. */
interface Talks {
  /** Conversation of exchanges without a session; those before the first session belong to that session. */
  readonly first: string | undefined
  firstSession: string | undefined
  readonly others: Map<string, string>
}

/** Maximum number of distinguished conversations. */
const most = 10_000

/**
 * Finds the conversation of an exchange when the archive does not name it: one per origin and `Mcp-Session-Id`. Every
 * client counts its ids from the same number. The first conversation has no name: usually it is the only one.
 */
export function createTalks(): (exchange: Sent) => string | undefined {
  const origins = new Map<string, Talks>()
  let count = 0

  function nextName(): string | undefined {
    count += 1
    return count === 1 ? undefined : `talk-${count}`
  }

  return ({ url, requestHeaders, headers }) => {
    const origin = originOf(url)
    let talks = origins.get(origin)
    if (!talks) {
      if (count >= most) return undefined
      talks = { first: nextName(), firstSession: undefined, others: new Map() }
      // A slice would keep the whole entry in memory.
      origins.set(detach(origin), talks)
    }
    const session = headerOf(requestHeaders, 'mcp-session-id') ?? headerOf(headers, 'mcp-session-id')
    if (session !== undefined) talks.firstSession ??= detach(session)
    if (session === undefined || session === talks.firstSession || count >= most) return talks.first
    let name = talks.others.get(session)
    if (name === undefined) {
      name = nextName()!
      talks.others.set(detach(session), name)
    }
    return name
  }
}
