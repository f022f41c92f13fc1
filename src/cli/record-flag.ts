import type { Keep } from './keep-option.js'
import type { OtlpOptions } from './otlp-options.js'

/** Options of `record`. */
export interface RecordOptions extends OtlpOptions {
  /** Record a server from this client configuration, bundle or `server.json`. */
  readonly config?: string
  /** Name of the server in it. */
  readonly server?: string
  /** Record an HTTP server instead of a command. */
  readonly url?: string
  readonly listen?: string
  /** Record a client's traffic to any server: the command is the client's. */
  readonly forward?: boolean
  readonly caDir?: string
  /** Speak stdio to the client and HTTP to the server at `url`. */
  readonly bridge?: boolean
  /** One process of a stdio server for all HTTP clients. */
  readonly shared?: boolean
  /** Glob patterns of files. */
  readonly watch?: readonly string[]
  readonly reloadable?: boolean
  /** Milliseconds. */
  readonly reloadTimeout?: number
  readonly strictReload?: boolean
  readonly header?: readonly string[]
  readonly only?: readonly string[]
  readonly skip?: readonly string[]
  readonly allowRemote?: boolean
  readonly openToAllUsers?: boolean
  readonly insecure?: boolean
  readonly oauthRewrite?: boolean
  readonly out?: string
  readonly label?: string
  readonly target?: string
  readonly note?: readonly string[]
  readonly meta?: readonly (readonly [string, string])[]
  readonly maxBytes?: number
  readonly maxFiles?: number
  readonly sealAfter?: number
  readonly keep?: Keep
  readonly strictV1?: boolean
  readonly sessionFile?: string
  readonly compact?: boolean
  readonly redact?: readonly string[]
  readonly redactFile?: string
  /** False disables the built-in rules. */
  readonly redactDefaults?: boolean
  readonly redactReport?: boolean
  readonly tagKey?: string
  readonly quiet?: boolean
  readonly intercept?: boolean
  readonly break?: readonly string[]
  readonly waitForAttach?: boolean
  readonly holdOrder?: 'exchange' | 'fifo'
  readonly holdTimeout?: number
  readonly onDetach?: 'forward' | 'drop'
  readonly rules?: string
  /** Ids of finding rules, and their action on a matching message. */
  readonly onFinding?: readonly (readonly [id: string, action: 'note' | 'hold' | 'block'])[]
  readonly pin?: string
  readonly onDrift?: 'note' | 'hold' | 'block'
  readonly onUnattended?: 'forward' | 'block'
}

/** An option of `record`: one table for the quick and the full parser. */
export interface RecordFlag {
  readonly long: string
  readonly short?: string
  readonly key: keyof RecordOptions
  /** Name of its value; absent for a switch. */
  readonly value?: string
  readonly help: string
  /** Value of a switch that disables something. @default true */
  readonly given?: false
  /** Throws an Error with a readable message. @param before value of an earlier occurrence */
  readonly parse?: (value: string, before: unknown) => unknown
}
