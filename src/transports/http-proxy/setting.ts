import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { AnswerRules } from './answer.js'
import type { ClientConnection } from './client-connection.js'
import type { FloodGate } from './flood-gate.js'
import type { Gatekeeper } from './gatekeeper.js'
import type { ReadingRoom } from './reading-room.js'
import type { Refusal } from './refusal.js'
import type { Talks } from './talks.js'
import type { UpstreamRoute } from './upstream-request.js'

/** Where a request goes, and what is changed in its answer. */
export interface Route extends UpstreamRoute {
  /** Told of the request instead of what it asks for, where a proxy has many upstreams. */
  readonly target?: { readonly path: string; readonly origin: string }
  /** Nothing is changed without them. */
  readonly answer?: AnswerRules
}

/** What all exchanges of a proxy have in common. */
export interface Setting {
  readonly gate: FloodGate
  readonly onUpstreamSocket: (socket: Socket) => void
  route(request: IncomingMessage, connection: ClientConnection): Route | Refusal
  /** Who wants to see what passes whole; undefined for nobody. */
  readonly gatekeeper?: () => Gatekeeper | undefined
  readonly talks: Talks
  /** For bodies that somebody wants to see whole. */
  readonly room: ReadingRoom
}
