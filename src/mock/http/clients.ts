import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { StandaloneStream } from '../../link/index.js'
import type { Envelope } from '../../model/index.js'
import type { Conversation } from '../conversation.js'
import type { Stage } from '../stage.js'

/** A client and the state of its conversation. */
export interface LiveClient {
  /** Its session id; undefined without sessions. */
  readonly session: string | undefined
  readonly conversation: Conversation
  readonly standalone: StandaloneStream
}

/** The clients of this server. Each has its own conversation. */
export interface Clients {
  /** A session begins. */
  begin(session: string): LiveClient
  ofSession(session: string): LiveClient | undefined
  /** False when no session has that name. */
  end(session: string): boolean
  /** The client of a request without a session, by its connection or by its own description of itself. */
  without(request: IncomingMessage, raw: string, envelopes: readonly Envelope[]): LiveClient
  close(): Promise<void>
}

/** Number of clients remembered. The client that was silent longest is forgotten first, and must begin anew. */
const remembered = 1_000

export function createClients(stage: Stage): Clients {
  const bySession = new Map<string, LiveClient>()
  /** Clients that describe themselves identically, the newest first. */
  const byName = new Map<string, LiveClient[]>()
  const byConnection = new WeakMap<Socket, { readonly name: string; readonly client: LiveClient }>()
  /** Clients that have sent `initialize`. */
  const initialized = new WeakSet<LiveClient>()
  /** By other facts about a program: its client that began last. */
  const newest = new Map<string, LiveClient>()
  /** All open clients, the longest silent first, with the function that forgets them. */
  const all = new Map<LiveClient, () => void>()
  const ending = new Set<Promise<void>>()

  function open(session: string | undefined, forget: (client: LiveClient) => void): LiveClient {
    const standalone = new StandaloneStream()
    const conversation = stage.open(standalone, 'streamable-http')
    const client = { session, conversation, standalone }
    all.set(client, () => forget(client))
    if (all.size > remembered) finish(all.keys().next().value!)
    conversation.start()
    return client
  }

  function finish(client: LiveClient): void {
    all.get(client)?.()
    all.delete(client)
    for (const [program, one] of newest) if (one === client) newest.delete(program)
    client.standalone.close()
    const closed: Promise<void> = client.conversation.close().finally(() => ending.delete(closed))
    ending.add(closed)
  }

  function seen(client: LiveClient): LiveClient {
    const forget = all.get(client)
    if (forget) {
      all.delete(client)
      all.set(client, forget)
    }
    return client
  }

  function openNamed(name: string): LiveClient {
    const client = open(undefined, (old) => {
      const left = (byName.get(name) ?? []).filter((one) => one !== old)
      if (left.length === 0) byName.delete(name)
      else byName.set(name, left)
    })
    byName.set(name, [client, ...(byName.get(name) ?? [])])
    return client
  }

  return {
    begin(session) {
      const client = open(session, () => void bySession.delete(session))
      bySession.set(session, client)
      return client
    },
    ofSession(session) {
      const known = bySession.get(session)
      return known && seen(known)
    },
    end(session) {
      const known = bySession.get(session)
      if (!known) return false
      finish(known)
      return true
    },
    without(request, raw, envelopes) {
      const initializes = envelopes.some(({ method }) => method === 'initialize')
      const begins = initializes || envelopes.some(({ method }) => method === 'server/discover')
      const peer = envelopes.find((envelope) => envelope.peer)?.peer
      const { authorization = '', 'user-agent': agent = '' } = request.headers
      const program = JSON.stringify([authorization, agent])
      const name = JSON.stringify([peer?.name, peer?.version, program])
      const before = byConnection.get(request.socket)
      const client = ((): LiveClient => {
        if (begins) {
          // A probe and the following `initialize` belong to one conversation.
          const probed = initializes && before && !initialized.has(before.client)
          return probed ? before.client : openNamed(name)
        }
        // A client of 2025 introduces itself only once.
        const own = before && (peer === undefined || before.name === name) ? [before.client] : []
        const last = newest.get(program)
        const alike = peer === undefined ? (last ? [last] : []) : (byName.get(name) ?? [])
        return furthestBehind([...own, ...alike], raw) ?? openNamed(name)
      })()
      if (initializes) initialized.add(client)
      if (begins) newest.set(program, client)
      byConnection.set(request.socket, { name, client })
      return seen(client)
    },
    async close() {
      for (const client of all.keys()) finish(client)
      await Promise.all(ending)
    },
  }
}

/**
 * Chooses among clients that cannot be told apart (two in one program share its connections): the one whose match for
 * this call comes earliest in the recording. Each of them gets each recorded response once, in the recorded order.
 */
function furthestBehind(alike: readonly LiveClient[], raw: string): LiveClient | undefined {
  let best = alike[0]
  if (alike.length < 2) return best
  let bestRow = Infinity
  for (const client of alike) {
    const row = client.conversation.fits(raw)
    if (row >= 0 && row < bestRow) {
      best = client
      bestRow = row
    }
  }
  return best
}
