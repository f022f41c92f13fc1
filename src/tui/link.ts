import type { CommandBody, ServerEvent, ServerHello, Success } from '../control-schema/index.js'

/** The part of a capture that a screen uses. The control socket's client implements it. */
export interface CaptureLink {
  readonly hello: ServerHello
  /** Events in order; can be read once. Ends with the connection. */
  readonly events: AsyncIterable<ServerEvent>
  /** Sends a command to the capture. Rejects with the reason, as an error with a `FailureCode` as `code`. */
  send(command: CommandBody): Promise<Success>
  /** Detaches. */
  close(): void
}
