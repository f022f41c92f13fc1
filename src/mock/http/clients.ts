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

/** Number of clients remembered. The client that was silent longest is forgotten first, and must begin anew. */
const remembered = 1_000

/** The clients of this server. Each has its own conversation. */
export class Clients {
  readonly #stage: Stage
  readonly #bySession = new Map<string, LiveClient>()
  /** Clients that describe themselves identically, the newest first. */
  readonly #byName = new Map<string, LiveClient[]>()
  readonly #byConnection = new WeakMap<Socket, { readonly name: string; readonly client: LiveClient }>()
  /** Clients that have sent `initialize`. */
  readonly #initialized = new WeakSet<LiveClient>()
  /** By other facts about a program: its client that began last. */
  readonly #newest = new Map<string, LiveClient>()
  /** All open clients, the longest silent first, with the function that forgets them. */
  readonly #all = new Map<LiveClient, () => void>()
  readonly #ending = new Set<Promise<void>>()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** A session begins. */
  begin(session: string): LiveClient {
    const client = this.#open(session, () => void this.#bySession.delete(session))
    this.#bySession.set(session, client)
    return client
  }

  ofSession(session: string): LiveClient | undefined {
    const known = this.#bySession.get(session)
    return known && this.#seen(known)
  }

  /** False when no session has that name. */
  end(session: string): boolean {
    const known = this.#bySession.get(session)
    if (!known) return false
    this.#finish(known)
    return true
  }

  /** The client of a request without a session, by its connection or by its own description of itself. */
  without(request: IncomingMessage, raw: string, envelopes: readonly Envelope[]): LiveClient {
    const initializes = envelopes.some(({ method }) => method === 'initialize')
    const begins = initializes || envelopes.some(({ method }) => method === 'server/discover')
    const peer = envelopes.find((envelope) => envelope.peer)?.peer
    const { authorization = '', 'user-agent': agent = '' } = request.headers
    const program = JSON.stringify([authorization, agent])
    const name = JSON.stringify([peer?.name, peer?.version, program])
    const before = this.#byConnection.get(request.socket)
    const client = ((): LiveClient => {
      if (begins) {
        // A probe and the following `initialize` belong to one conversation.
        const probed = initializes && before && !this.#initialized.has(before.client)
        return probed ? before.client : this.#openNamed(name)
      }
      // A client of 2025 introduces itself only once.
      const own = before && (peer === undefined || before.name === name) ? [before.client] : []
      const last = this.#newest.get(program)
      const alike = peer === undefined ? (last ? [last] : []) : (this.#byName.get(name) ?? [])
      return furthestBehind([...own, ...alike], raw) ?? this.#openNamed(name)
    })()
    if (initializes) this.#initialized.add(client)
    if (begins) this.#newest.set(program, client)
    this.#byConnection.set(request.socket, { name, client })
    return this.#seen(client)
  }

  async close(): Promise<void> {
    for (const client of this.#all.keys()) this.#finish(client)
    await Promise.all(this.#ending)
  }

  #open(session: string | undefined, forget: (client: LiveClient) => void): LiveClient {
    const standalone = new StandaloneStream()
    const conversation = this.#stage.open(standalone, 'streamable-http')
    const client = { session, conversation, standalone }
    this.#all.set(client, () => forget(client))
    if (this.#all.size > remembered) this.#finish(this.#all.keys().next().value!)
    conversation.start()
    return client
  }

  #finish(client: LiveClient): void {
    this.#all.get(client)?.()
    this.#all.delete(client)
    for (const [program, one] of this.#newest) if (one === client) this.#newest.delete(program)
    client.standalone.close()
    const closed: Promise<void> = client.conversation.close().finally(() => this.#ending.delete(closed))
    this.#ending.add(closed)
  }

  #seen(client: LiveClient): LiveClient {
    const forget = this.#all.get(client)
    if (forget) {
      this.#all.delete(client)
      this.#all.set(client, forget)
    }
    return client
  }

  #openNamed(name: string): LiveClient {
    const client = this.#open(undefined, (old) => {
      const left = (this.#byName.get(name) ?? []).filter((one) => one !== old)
      if (left.length === 0) this.#byName.delete(name)
      else this.#byName.set(name, left)
    })
    this.#byName.set(name, [client, ...(this.#byName.get(name) ?? [])])
    return client
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
