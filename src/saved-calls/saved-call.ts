import type { CompareRule, Level, Matcher } from '../compare/index.js'
import type { CompiledPath } from '../json-path/index.js'

/** The server of a call. Calls with equal servers share one connection. */
export type SavedServer =
  /** Started without a shell. `env` is added to our own environment. */
  | { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers: readonly (readonly [name: string, value: string])[] }
  /** Named in the configuration of an MCP client on this machine. */
  | { readonly client: string }

/** Expected response. Without any member: a result that is no tool error. */
export interface Expectation {
  /** Exact JSON text: `{"result":…}` or `{"error":…}`, compared as `diff` compares. */
  readonly answer?: string
  /** The response is an error or has `isError`. */
  readonly fails: boolean
  /** @default 'semantic' */
  readonly level?: Level
  /** `ignore` and `match`, for the comparison with `answer`. */
  readonly rules: readonly CompareRule[]
  /** Places with an expected value or a matcher. */
  readonly places: readonly ExpectedPlace[]
}

/** One place with a value, a matcher or both. */
export interface ExpectedPlace {
  readonly path: CompiledPath
  /** Exact JSON text. */
  readonly value?: string
  readonly matcher?: Matcher
}

export interface SavedCall {
  readonly name: string
  /** Line in its file, 1-based. */
  readonly line: number
  /** Absent if the command line names it. */
  readonly server?: SavedServer
  readonly method: string
  /** Exact JSON text of an object. */
  readonly params: string
  /** Tool or prompt name, resource URI. */
  readonly subject?: string
  readonly expect: Expectation
}
