import type { RecordedServer } from './recorded-server.js'
/** A folder of saved calls. All methods but `list` throw WiretapeError. */
export interface SavedCalls {
  readonly folder: string
  list(): Promise<readonly SavedFile[]>
  /**
   * @param only one file, or one call of it; undefined for all
   * @param signal stops the run: the remaining calls are not made
   */
  run(
    only: { readonly file: string; readonly name?: string } | undefined,
    signal: AbortSignal,
  ): Promise<readonly SavedRun[]>
  /** @returns a line to display */
  save(call: CallToKeep): Promise<string>
}

/** A file of saved calls. */
export interface SavedFile {
  readonly file: string
  readonly calls: readonly {
    readonly name: string
    readonly line: number
    /** Tool, prompt, URI or method. */
    readonly what: string
    readonly server: string
  }[]
  /** Why its calls cannot run. */
  readonly fault?: string
}

/** An exchange of the report of `wiretape run`. */
export type SavedRun = Readonly<Record<string, unknown>>

/** A completed call; its response becomes the expectation. */
export interface CallToKeep {
  /** Base name. */
  readonly file: string
  readonly server: RecordedServer
  readonly method: string
  /** Exact JSON texts. */
  readonly params: string
  readonly answer: string
}
