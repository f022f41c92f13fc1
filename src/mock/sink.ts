import type { Envelope } from '../model/index.js'

/** A message on its way to the client. */
export interface Outgoing {
  /** Exact JSON text; of noise, a line. */
  readonly text: string
  /** It answers the request whose stream this is: nothing follows on it. */
  readonly final?: boolean
  /** HTTP status of the recorded response. */
  readonly status?: number
  /** It was recorded as an event of a stream. */
  readonly streamed?: boolean
  readonly noise?: boolean
}

/** Where messages for the client go. */
export interface Sink {
  /** Resolves when the next may be sent; at once when nobody reads any more. */
  send(message: Outgoing): Promise<void>
  /** False while nobody listens; what is sent waits. */
  readonly isOpen: boolean
  /** Answers as HTTP does that carries no JSON-RPC; false when something else was said already. Absent where there is no HTTP. */
  readonly refuse?: (refusal: { readonly status: number; readonly text: string }) => boolean
  /** What answers the request comes in one piece, as far as is known: no stream is opened before it has come. */
  readonly inOnePiece?: () => void
  /** Closes the connection, as a server does that breaks down. */
  readonly cut?: () => void
}

/** Somebody who knows more than the recording. */
export interface Fallback {
  /** `initialize`, which the recording has answered. */
  greet(text: string, envelope: Envelope): void
  /**
   * Answers a call, sooner or later, to `sink`.
   *
   * @param replaces the recorded call that could have been given the answer of, or -1
   */
  ask(text: string, envelope: Envelope, sink: Sink, replaces: number): void
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
