import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { StandaloneStream } from '../../link/index.js'
import type { Envelope } from '../../model/index.js'
import type { Conversation } from '../conversation.js'
import type { Stage } from '../stage.js'

/** A client and where its conversation stands. */
export interface LiveClient {
  /** What it names its conversation by; undefined without sessions. */
  readonly session: string | undefined
  readonly conversation: Conversation
  readonly standalone: StandaloneStream
}

/** Who talks to us. Each has a conversation of its own. */
export interface Clients {
  /** A session begins. */
  begin(session: string): LiveClient
  ofSession(session: string): LiveClient | undefined
  /** False when there is none of that name. */
  end(session: string): boolean
  /** Who sends this request, where no session tells: its connection, or what it says about itself. */
  without(request: IncomingMessage, raw: string, envelopes: readonly Envelope[]): LiveClient
  close(): Promise<void>
}

/** Clients that are remembered; who has been silent longest is forgotten first, and has to begin anew. */
const remembered = 1_000

export function createClients(stage: Stage): Clients {
  const bySession = new Map<string, LiveClient>()
  /** Clients that cannot be told apart by what they say, the newest first. */
  const byName = new Map<string, LiveClient[]>()
  const byConnection = new WeakMap<Socket, { readonly name: string; readonly client: LiveClient }>()
  /** Those that have said `initialize`. */
  const initialized = new WeakSet<LiveClient>()
  /** By what else is known of a program: the client of it that began last. */
  const newest = new Map<string, LiveClient>()
  /** All that are open, who was silent longest first, with what forgets them. */
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
          // A probe and the `initialize` after it are one talk.
          const probed = initializes && before && !initialized.has(before.client)
          return probed ? before.client : openNamed(name)
        }
        // A client of 2025 says who it is only once.
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
 * Of clients that cannot be told apart (two in one program share its connections), the one that stands earliest in the
 * recording with this call: each of them gets each recorded answer once, in the recorded order.
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
