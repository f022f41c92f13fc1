import { createHmac } from 'node:crypto'

/** Names of conversations that are remembered. */
const remembered = 10_000

/**
 * Tells whose talk an HTTP exchange belongs to: that of a session id, where there is one, else of a connection. A
 * session id works like a password, so what is recorded is a digest of it, under a key that is thrown away.
 */
export interface Conversations {
  /** @param session what the request says: `Mcp-Session-Id`, or `sessionId` in the query of a legacy endpoint */
  of(connection: number, session: string | undefined): string
  knows(session: string): boolean
  /** A response gave the session a name: it goes on under that of the exchange which began it. */
  begin(session: string, conversation: string): void
}

/** @param key that of the digest; without one, session ids are shown as they are */
export function createConversations(key: string | undefined): Conversations {
  const known = new Map<string, string>()
  const digest = (session: string): string =>
    key === undefined ? session : createHmac('sha256', key).update(session).digest('hex').slice(0, 16)

  function remember(session: string, conversation: string): void {
    if (known.size >= remembered) known.delete(known.keys().next().value!)
    known.set(session, conversation)
  }

  return {
    of(connection, session) {
      if (session === undefined) return `connection-${connection}`
      const before = known.get(session)
      if (before !== undefined) return before
      const conversation = digest(session)
      remember(session, conversation)
      return conversation
    },
    knows: (session) => known.has(session),
    begin(session, conversation) {
      if (!known.has(session)) remember(session, conversation)
    },
  }
}

/** Legacy servers put the session into the query of their endpoint. */
export function legacySessionOf(path: string): string | undefined {
  const query = path.split('?')[1]
  if (query === undefined) return undefined
  const parameters = new URLSearchParams(query)
  return parameters.get('sessionId') ?? parameters.get('session_id') ?? undefined
}
