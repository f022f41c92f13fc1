import type { CommandBody, ServerEvent, ServerHello, Success } from '../control-schema/index.js'

/** What a screen needs of a capture: the control socket's client is one. */
export interface CaptureLink {
  readonly hello: ServerHello
  /** What it says, in order; read once. Ends with the connection. */
  readonly events: AsyncIterable<ServerEvent>
  /** Asks the capture for something. Rejects with an error that says why it does not, its `code` one of `FailureCode`. */
  send(command: CommandBody): Promise<Success>
  /** Detaches. */
  close(): void
}
