import { createHash, createHmac } from 'node:crypto'

/** Names of conversations that are remembered. */
const remembered = 10_000
/** Longer session ids are remembered by a digest: a peer could send one of 256 KB with every request. */
const longestSession = 1_024
/** Longer queries name no session. */
const longestQuery = 65_536

/**
 * Tells whose talk an HTTP exchange belongs to: that of a session id, where there is one, else of a connection. A
 * session id works like a password, so what is recorded is a digest of it, under a key that is thrown away.
 */
export interface Conversations {
  /** @param session what the request says: `Mcp-Session-Id`, or `sessionId` in the query of a legacy endpoint */
  of(from: Sender, session: string | undefined): string
  /**
   * A response gave the session a name: it goes on under that of the exchange which began it. What comes on the same
   * connection without a session is another talk from then on, since clients may share connections.
   *
   * @returns false when it had one
   */
  begin(session: string, exchange: Sender & { readonly conversation: string }): boolean
}

/** Where an exchange comes from, and, where a proxy has many upstreams, where it goes. */
export interface Sender {
  readonly connection: number
  readonly origin?: string
}

/** @param key that of the digest; without one, session ids are shown as they are */
export function createConversations(key: string | undefined): Conversations {
  const known = new Map<string, string>()
  /** How many sessions have taken the name of their connection. */
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

/** Legacy servers put the session into the query of their endpoint. */
export function legacySessionOf(path: string): string | undefined {
  const start = path.indexOf('?') + 1
  if (start === 0 || path.length - start > longestQuery) return undefined
  const [query = ''] = path.slice(start).split('?', 1)
  const parameters = new URLSearchParams(query)
  return parameters.get('sessionId') ?? parameters.get('session_id') ?? undefined
}
