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

/** The destination of a request, and the rewriting of its response. */
export interface Route extends UpstreamRoute {
  /** Recorded instead of the request target, where a proxy has many upstreams. */
  readonly target?: { readonly path: string; readonly origin: string }
  /** Without them, the response is not rewritten. */
  readonly answer?: AnswerRules
}

/** Settings shared by all exchanges of a proxy. */
export interface Setting {
  readonly gate: FloodGate
  readonly onUpstreamSocket: (socket: Socket) => void
  route(request: IncomingMessage, connection: ClientConnection): Route | Refusal
  /** The observer of whole messages; undefined without one. */
  readonly gatekeeper?: () => Gatekeeper | undefined
  readonly talks: Talks
  /** Memory limit of the bodies that are read whole. */
  readonly room: ReadingRoom
}
