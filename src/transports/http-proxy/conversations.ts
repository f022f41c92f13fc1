import { createHash, createHmac } from 'node:crypto'

/** Conversation names that are remembered. */
const remembered = 10_000
/** Longer session ids are stored as a digest: a peer could send one of 256 KB with every request. */
const longestSession = 1_024
/** Longer queries are not searched for a session id. */
const longestQuery = 65_536

/**
 * Assigns HTTP exchanges to conversations: by session id if there is one, otherwise by connection. A session id
 * works like a password, so recordings contain only a digest of it, with a key that is discarded.
 */
export interface Conversations {
  /** @param session from the request: `Mcp-Session-Id`, or `sessionId` in the query of a legacy endpoint */
  of(from: Sender, session: string | undefined): string
  /**
   * A response has assigned a session id. The session keeps the conversation name of the exchange that began it.
   * Later exchanges on the same connection without a session belong to another conversation, because clients may
   * share connections.
   *
   * @returns false when the session already had a name
   */
  begin(session: string, exchange: Sender & { readonly conversation: string }): boolean
}

/** The connection of an exchange, and its target origin where a proxy has many upstreams. */
export interface Sender {
  readonly connection: number
  readonly origin?: string
}

/** @param key key of the digest; without one, session ids are shown unchanged */
export function createConversations(key: string | undefined): Conversations {
  const known = new Map<string, string>()
  /** Number of sessions that have taken the name of their connection. */
  const taken = new Map<string, number>()
  const keyOf = ({ connection, origin = '' }: Sender): string => `${connection} ${origin}`
  const digest = (session: string): string =>
    key === undefined ? session : createHmac('sha256', key).update(session).digest('hex').slice(0, 16)

  function nameOf(from: Sender): string {
    const count = taken.get(keyOf(from)) ?? 0
    return count === 0 ? `connection-${from.connection}` : `connection-${from.connection}-${count + 1}`
  }

  return {
    of(from, given) {
      if (given === undefined) return nameOf(from)
      const session = shortened(given)
      const before = known.get(session)
      if (before !== undefined) return before
      const conversation = digest(session)
      remember(known, session, conversation)
      return conversation
    },
    begin(given, exchange) {
      const session = shortened(given)
      if (known.has(session)) return false
      remember(known, session, exchange.conversation)
      if (exchange.conversation === nameOf(exchange))
        remember(taken, keyOf(exchange), (taken.get(keyOf(exchange)) ?? 0) + 1)
      return true
    },
  }
}

function shortened(session: string): string {
  if (session.length <= longestSession) return session
  return `sha256-${createHash('sha256').update(session).digest('hex')}`
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= remembered && !map.has(key)) map.delete(map.keys().next().value!)
  map.set(key, value)
}

/** Legacy servers put the session id into the query of their endpoint. */
export function legacySessionOf(path: string): string | undefined {
  const start = path.indexOf('?') + 1
  if (start === 0 || path.length - start > longestQuery) return undefined
  const [query = ''] = path.slice(start).split('?', 1)
  const parameters = new URLSearchParams(query)
  return parameters.get('sessionId') ?? parameters.get('session_id') ?? undefined
}
