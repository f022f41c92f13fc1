import type { ServerExit } from '../stdio/server-process.js'

/** A completed replacement of the server's process. */
export interface Restart {
  /** Exit of the previous process. */
  readonly before: ServerExit
  /** From the end of the previous process to the first message that the new one accepts, in milliseconds. */
  readonly tookMs: number
  /** Requests that got an error because their process is gone. */
  readonly unanswered: number
  /** List methods with changed results. */
  readonly changed: readonly string[]
  /** Properties that the client was promised and that no longer hold. */
  readonly misfits: readonly string[]
}
