import type { Level } from '../compare/index.js'
import type { Unanswered } from './default-answer.js'

/** How a recording is replayed and compared. Everything has a default. */
export interface ReplayOptions {
  /** Time limit for one response, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number
  /** Makes a handshake where the recording has none. @default true */
  readonly handshake?: boolean
  /** Response to the server's own requests where the recording has none. @default 'error' */
  readonly unanswered?: Unanswered
  /** One request at a time, or overlapping as recorded. @default 'one' */
  readonly concurrency?: 'one' | 'recorded'
  /** Speed as a multiple of the recorded one. @default Infinity: without waiting */
  readonly speed?: number
  /** Values by JSONPath, for messages of the client that have the place. */
  readonly set?: Readonly<Record<string, unknown>>
  /** Fail where a redacted value is unknown. @default false: messages that need it are left out, with a note */
  readonly strictSecrets?: boolean
  /** Only messages of the client that match (docs/filter.md); the handshake is always sent. */
  readonly filter?: string
  /** @default the compare file's level, else 'semantic' */
  readonly level?: Level
  /** JSONPaths into responses, to values that do not count. */
  readonly ignore?: readonly string[]
  /** Matchers by JSONPath: `{ '$.result.structuredContent.at': 'timestamp' }`. */
  readonly match?: Readonly<Record<string, string>>
  /** Path of a file of rules; `false` for none. @default `<recording>.compare.yaml`, if there is one */
  readonly compareFile?: string | false
  /** Ends the replay; remaining messages are reported as not sent. */
  readonly signal?: AbortSignal
}
