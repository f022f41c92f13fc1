import type { Unanswered } from '../../replay/index.js'
import type { CompareOptions } from '../compare/compare-options.js'

export interface ReplayOptions extends CompareOptions {
  readonly url?: string
  /** `Name: value` */
  readonly header?: readonly string[]
  readonly transport?: 'streamable-http' | 'sse'
  readonly output?: string
  /** Milliseconds. */
  readonly timeout: number
  readonly handshake: boolean
  readonly set?: readonly string[]
  readonly strictSecrets?: boolean
  readonly unanswered: Unanswered
  readonly concurrency: 'one' | 'recorded'
  /** Speed relative to the recording. */
  readonly pace: number
  readonly filter?: string
  readonly repeat: number
  readonly parallel: number
  readonly update?: boolean
  /** Number of runs to learn varying values. */
  readonly learn?: number
  readonly all?: boolean
  /** Ends it like Ctrl-C. */
  readonly signal?: AbortSignal
}
