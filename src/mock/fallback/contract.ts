import type { ServerLink } from '../../link/index.js'
import type { Envelope } from '../../model/index.js'

/** Somebody who knows more than the recording. */
export interface Fallback {
  /** `initialize`, which the recording has answered. */
  greet(text: string, envelope: Envelope): void
  /**
   * Answers a call, sooner or later, to `sink`.
   *
   * @param replaces the recorded call that could have been given the answer of, or -1
   */
  ask(text: string, envelope: Envelope, sink: ServerLink, replaces: number): void
  /** The recording answers this call, in that row. */
  heard(row: number, text: string, envelope: Envelope): void
  /** A notification of the client that the server should know of. @param row the recorded one, or -1 */
  note(text: string, envelope: Envelope, row: number): void
  /** Resolves when it takes more, or has taken nothing for a while. */
  ready(): Promise<void>
  /** Resolves when it has taken all that it was told, or gives up on it. */
  settled(): Promise<void>
  /** The answer to a question of the server. False when it was not its question. */
  reply(text: string, envelope: Envelope): boolean
  close(): Promise<void>
}
