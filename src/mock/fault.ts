import type { Envelope } from '../model/index.js'
import type { LiveCall } from './live-call.js'
import { nameOf } from './miss.js'
import type { ServerLink } from '../link/index.js'

/** JSON-RPC 2.0, section 5.1. */
export const internalError = -32603

/** A message of the client that we failed to process. */
export interface FaultyMessage {
  readonly envelope: Envelope
  readonly sink: ServerLink
  /** For a request that matched a recorded one. */
  readonly call?: LiveCall
}

/** The problem, in one line. */
export function faultText(error: unknown, about: FaultyMessage | undefined): string {
  if (about?.envelope.kind === 'request')
    return `${nameOf(about.envelope)} cannot be answered: ${reasonOf(error)}`
  return `the messages that follow a client message cannot be sent: ${reasonOf(error)}`
}

/** The error sent for a request that we failed to process. @param id exact JSON text */
export function faultAnswer(id: string, why: string): string {
  const message = JSON.stringify(`wiretape mock: ${why}`)
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${internalError},"message":${message}}}`
}

/** Describes a thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
