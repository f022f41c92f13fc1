import { detach, type HttpHeaders } from '../../model/index.js'
import { originOf } from '../foreign/origin.js'
import { headerOf } from '../http-transcript/headers.js'

/** What of an exchange says whose it is. */
interface Sent {
  readonly url: string
  readonly requestHeaders: HttpHeaders
  readonly headers: HttpHeaders
}

/** What is said to one origin. */
interface Talks {
  /** The talk of what names no session: what comes before the first session is a part of that. */
  readonly first: string | undefined
  firstSession: string | undefined
  readonly others: Map<string, string>
}

/** Sessions that are told apart. */
const most = 10_000

/**
 * Whose talk an exchange belongs to, in an archive that does not say it: that of one origin, and one `Mcp-Session-Id`.
 * Every client counts its ids from the same number. The first of them has no name: mostly there is no other.
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
