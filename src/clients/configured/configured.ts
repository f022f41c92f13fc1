/** What a client would start, or reach, for one server. */
export interface ConfiguredServer {
  readonly name: string
  readonly target:
    | { readonly kind: 'stdio'; readonly command: readonly string[] }
    | {
        readonly kind: 'remote'
        readonly url: string
        readonly headers: readonly (readonly [string, string])[]
      }
  /** Beside our own environment; variables of ours are put in. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Removes what was unpacked for it. */
  readonly close?: () => Promise<void>
}
