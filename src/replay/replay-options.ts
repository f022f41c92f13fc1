import type { Level } from '../compare/index.js'
import type { Unanswered } from './answer-question.js'

/** How a recording is replayed and compared; everything has a default. */
export interface ReplayOptions {
  /** Milliseconds that one answer may take. @default 10_000 */
  readonly timeoutMs?: number
  /** Makes a handshake where the recording has none. @default true */
  readonly handshake?: boolean
  /** What the server's own requests get that the recording cannot answer. @default 'error' */
  readonly unanswered?: Unanswered
  /** One request at a time, or overlapping as recorded. @default 'one' */
  readonly concurrency?: 'one' | 'recorded'
  /** How many times as fast as recorded. @default Infinity: without waiting */
  readonly speed?: number
  /** Values by JSONPath, for messages of the client that have the place. */
  readonly set?: Readonly<Record<string, unknown>>
  /** Ends with an error where a redacted value is not known. @default false: what needs it is left out, and noted */
  readonly strictSecrets?: boolean
  /** Only messages of the client that match (docs/filter.md); the handshake is always sent. */
  readonly filter?: string
  /** @default what the compare file says, else 'semantic' */
  readonly level?: Level
  /** JSONPaths into answers, to what does not count. */
  readonly ignore?: readonly string[]
  /** Matchers by JSONPath: `{ '$.result.structuredContent.at': 'timestamp' }`. */
  readonly match?: Readonly<Record<string, string>>
  /** Path of a file of rules; `false` for none. @default `<recording>.compare.yaml`, if there is one */
  readonly compareFile?: string | false
  /** Ends the replay: what was not sent is told as such. */
  readonly signal?: AbortSignal
}
