import type { Miss } from './miss.js'
import type { Readable, Writable } from 'node:stream'

/** How a recorded server plays its part, and for whom. */
export interface MockOptions {
  /** Serves one client on these streams, one message a line. Without them, HTTP is served. */
  readonly streams?: { readonly input: Readable; readonly output: Writable }
  /** Where to listen, on this machine only. @default { host: '127.0.0.1', port: 0 }: any free port */
  readonly listen?: { readonly host?: string; readonly port?: number }
  /** Over HTTP, answers other users of this machine too. @default false */
  readonly openToAllUsers?: boolean
  /** What to speak over HTTP. @default as it was recorded; `streamable-http` for what was recorded on stdio */
  readonly transport?: 'streamable-http' | 'sse' | undefined
  /** A call beyond the recorded ones gets the last recorded answer again; otherwise it is a miss. @default false */
  readonly repeatLast?: boolean
  /**
   * `fast`: everything as soon as it may be said; `recorded`: with the recorded waits; `4x`: four times faster.
   *
   * @default 'fast'
   */
  readonly pace?: string
  /** Path of a file of rules (docs/rules.md). It is read again when it changes. */
  readonly rules?: string
  /** Command line of a real server, which is asked what the recording cannot answer. Started when it is needed. */
  readonly fallback?: readonly string[]
  /** Keeps what the real server answered, in a copy of the recording that is written when the mock is closed. */
  readonly record?: {
    /** `new`: answers to calls that the recording has none for. `all`: it is asked everything, and its answers take the place of the recorded ones. */
    readonly what: 'new' | 'all'
    /** Path of the copy, a tape. What is there is replaced. */
    readonly out: string
  }
  /** Gets what the real server writes to stderr. @default process.stderr */
  readonly errorOutput?: Writable
  /** A call that the recording has no answer to. */
  readonly onMiss?: (miss: Miss) => void
  /** What a person should read, in one line. */
  readonly onNotice?: (line: string) => void
}
