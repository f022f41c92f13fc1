import type { ServerExit } from '../stdio/server-process.js'

/** A new process stands behind the pipe of the client. */
export interface Restart {
  /** How the one before ended. */
  readonly before: ServerExit
  /** From its end to the first message that the new one takes, in milliseconds. */
  readonly tookMs: number
  /** Requests that got an error, since the process that had them is gone. */
  readonly unanswered: number
  /** Methods of the lists that are others now. */
  readonly changed: readonly string[]
  /** What the client was told and is not so any more. */
  readonly misfits: readonly string[]
}
