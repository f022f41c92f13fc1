import type { Miss } from './miss.js'
import type { Readable, Writable } from 'node:stream'

/** How a recording is served, and to which clients. */
export interface MockOptions {
  /** Serves one client on these streams, one message per line. Without them, HTTP is served. */
  readonly streams?: { readonly input: Readable; readonly output: Writable }
  /** Address to listen on, on this machine only. @default { host: '127.0.0.1', port: 0 }: any free port */
  readonly listen?: { readonly host?: string; readonly port?: number }
  /** Over HTTP, serves other users of this machine too. @default false */
  readonly openToAllUsers?: boolean
  /** The HTTP transport. @default as recorded; `streamable-http` for recordings of stdio */
  readonly transport?: 'streamable-http' | 'sse' | undefined
  /** A call beyond the recorded ones gets the last recorded response again; otherwise it is a miss. @default false */
  readonly repeatLast?: boolean
  /**
   * `fast`: everything as early as possible; `recorded`: with the recorded waits; `4x`: four times faster.
   *
   * @default 'fast'
   */
  readonly pace?: string
  /** Path of a file of rules (docs/rules.md). It is reread when it changes. */
  readonly rules?: string
  /** Command line of a real server for calls without a recorded response. Started on demand. */
  readonly fallback?: readonly string[]
  /** Keeps the real server's responses in a copy of the recording, written when the mock is closed. */
  readonly record?: {
    /** `new`: responses that the recording lacks. `all`: every call goes to it; its responses replace recorded ones. */
    readonly what: 'new' | 'all'
    /** Path of the copy, a tape. An existing file is replaced. */
    readonly out: string
  }
  /** Gets the real server's stderr. @default process.stderr */
  readonly errorOutput?: Writable
  /** A call for which the recording has no response. */
  readonly onMiss?: (miss: Miss) => void
  /** A notice for a person, in one line. */
  readonly onNotice?: (line: string) => void
}
