import type { ServerLink } from '../../link/index.js'
import type { Envelope } from '../../model/index.js'

/** A source of responses that the recording lacks. */
export interface Fallback {
  /** An `initialize` to which the recording responds. */
  greet(text: string, envelope: Envelope): void
  /**
   * Responds to a call through `sink`, at any later time.
   *
   * @param replaces the recorded call whose response could have been sent, or -1
   */
  ask(text: string, envelope: Envelope, sink: ServerLink, replaces: number): void
  /** The recording responds to this call, with that row. */
  heard(row: number, text: string, envelope: Envelope): void
  /** A notification of the client for the server. @param row the recorded match, or -1 */
  note(text: string, envelope: Envelope, row: number): void
  /** Resolves when it accepts more, or has accepted nothing for a while. */
  ready(): Promise<void>
  /** Resolves when everything was sent to the server, or it gives up. */
  settled(): Promise<void>
  /** A response to a request of the server. False when the request was not this server's. */
  reply(text: string, envelope: Envelope): boolean
  close(): Promise<void>
}
