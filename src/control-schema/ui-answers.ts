/** Answers of `wiretape ui` to its page, as JSON. */

/** A recording that the viewer may request. */
export interface ListedRecording {
  /** Opaque id for URLs; nothing can be learned or guessed from it. */
  readonly id: string
  readonly name: string
  readonly label: string
  readonly startedAt: string
  readonly sizeBytes: number
  readonly messages: number | null
  /** JSON-RPC errors and results of failed tools; null if not counted. */
  readonly errors: number | null
  readonly durationMs: number | null
  /** Self-reported name and version. */
  readonly server: string | null
  readonly client: string | null
  /** The machine and user of a recording in a store. */
  readonly host?: string
  readonly state: 'live' | 'complete' | 'incomplete' | 'failed'
  /** Base names of its files, in the order of their segments. */
  readonly files: readonly string[]
  /** Absolute path of the first file, for commands to copy. */
  readonly path: string
  /** Why its server never sent a message, if known. */
  readonly why?: string
}

/** Rows of a query. Values are texts; null is null. */
export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[]
  readonly rows: readonly {
    readonly values: readonly (string | null)[]
    /** The message of a row that has the columns `recording` and `seq`. */
    readonly message?: { readonly id: string; readonly seq: number }
  }[]
  /** The same rows for spreadsheets. */
  readonly csv: string
  /** There are more. */
  readonly isCut: boolean
}

/** Messages found, newest recording first. */
export interface SearchFound {
  readonly matches: readonly FoundMessage[]
  /** There are more. */
  readonly isCut: boolean
}

export interface FoundMessage {
  /** Id of its recording. */
  readonly id: string
  readonly label: string | null
  /** Null if it is no message. */
  readonly sequence: number | null
  readonly timestamp: string | null
  readonly method: string | null
  readonly subject: string | null
  readonly snippet: string
  /** Place of the match in the snippet. */
  readonly match: { readonly start: number; readonly end: number } | null
}
