import type { Keep } from './keep-option.js'
import type { OtlpOptions } from './otlp-options.js'

/** What `record` can be told. */
export interface RecordOptions extends OtlpOptions {
  /** Record a server from this configuration of a client, bundle or `server.json`. */
  readonly config?: string
  /** Which server of it. */
  readonly server?: string
  /** Record an HTTP server instead of a command. */
  readonly url?: string
  readonly listen?: string
  /** Record what a client says to any server: the command is the client's. */
  readonly forward?: boolean
  readonly caDir?: string
  /** Speak stdio to the client and HTTP to the server at `url`. */
  readonly bridge?: boolean
  /** One process of a stdio server for all HTTP clients. */
  readonly shared?: boolean
  /** Glob patterns of files. */
  readonly watch?: readonly string[]
  readonly reloadable?: boolean
  /** In milliseconds. */
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
  /** False to do without the built-in rules. */
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
  /** Ids of rules of findings, and what happens to a message in which they find something. */
  readonly onFinding?: readonly (readonly [id: string, action: 'note' | 'hold' | 'block'])[]
  readonly pin?: string
  readonly onDrift?: 'note' | 'hold' | 'block'
  readonly onUnattended?: 'forward' | 'block'
}

/** An option of `record`: one table for the quick parser and for the thorough one. */
export interface RecordFlag {
  readonly long: string
  readonly short?: string
  readonly key: keyof RecordOptions
  /** Name of its value; absent for a switch. */
  readonly value?: string
  readonly help: string
  /** What a switch that turns something off gives. @default true */
  readonly given?: false
  /** Throws an Error with a sentence for a person. @param before what an earlier occurrence gave */
  readonly parse?: (value: string, before: unknown) => unknown
}
