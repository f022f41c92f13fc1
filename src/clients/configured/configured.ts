/** A server as a client would start or reach it. */
export interface ConfiguredServer {
  readonly name: string
  readonly target:
    | { readonly kind: 'stdio'; readonly command: readonly string[] }
    | {
        readonly kind: 'remote'
        readonly url: string
        readonly headers: readonly (readonly [string, string])[]
      }
  /** Added to our own environment, whose variables are filled in. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Removes its unpacked files. */
  readonly close?: () => Promise<void>
}
