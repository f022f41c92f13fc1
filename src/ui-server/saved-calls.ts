import type { RecordedServer } from './recorded-server.js'
/** A folder of saved calls. All but `list` throw WiretapeError with what is wrong. */
export interface SavedCalls {
  readonly folder: string
  list(): Promise<readonly SavedFile[]>
  /** @param only one file, or one call of it. @default all */
  run(only?: { readonly file: string; readonly name?: string }): Promise<readonly SavedRun[]>
  /** @returns a line for a person */
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
  /** Why none of its calls can be made. */
  readonly fault?: string
}

/** An exchange of the report of `wiretape run`. */
export type SavedRun = Readonly<Record<string, unknown>>

/** A call that was made, and its answer, which becomes the expectation. */
export interface CallToKeep {
  /** Base name. */
  readonly file: string
  readonly server: RecordedServer
  readonly method: string
  /** Exact JSON texts. */
  readonly params: string
  readonly answer: string
}
