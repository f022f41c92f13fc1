import type { ClientRole, OpenServer } from '../replay/index.js'
import type { CaptureConnection } from '../control/index.js'
import type { SavedCalls } from './saved-calls.js'
import type { RecordedServer } from './recorded-server.js'

/** Recordings that the server may serve; only listed ones can be requested. */
export interface Catalogue {
  /** Address of the store of these sessions; undefined for the data folder. */
  readonly store?: string
  /** Recordings from the command line. */
  given(): Promise<readonly ListedRecording[]>
  /** The recordings of the data folder, newest first. */
  recordings(): Promise<readonly ListedRecording[]>
  /** Path of a file of a listed recording. */
  pathOf(id: string, index: number): Promise<string | undefined>
  /** Content of a recording that is not a local file. */
  contentOf?(id: string, index: number): Promise<StoredContent | undefined>
  /**
   * Runs an SQL query over all recordings, as `wiretape sql` does.
   *
   * @throws WiretapeError `usage` if the engine refuses the query or is missing
   */
  sql?(query: string, signal: AbortSignal): Promise<SqlAnswer>
  /** Whether a capture writes this file now, and the next segment. */
  progressOf(path: string): Promise<{ readonly live: boolean; readonly next?: string }>
  /** Subscribes to writes of the capture that writes this file; undefined if it cannot be reached. */
  attend(path: string, changed: () => void): Promise<{ close(): void } | undefined>
  /**
   * Searches all recordings of the data folder, as `wiretape search` does.
   *
   * @throws WiretapeError `usage` for an invalid filter
   */
  search?(filter: string): Promise<SearchFound>
  /**
   * Deletes a listed recording of the data folder.
   *
   * @throws WiretapeError if it is live, not in the data folder or cannot be deleted
   */
  remove?(id: string): Promise<void>
  /** How the server of a listed recording is reached. */
  server?(id: string): Promise<RecordedServer | undefined>
  /**
   * Called only with a person's consent.
   *
   * @param headers for a URL; their values are secrets
   * @throws WiretapeError `usage` for a header that cannot be sent
   */
  recorder?(server: RecordedServer, headers: readonly (readonly [name: string, value: string])[]): UiRecorder
  /** For rules of captures without a rules file. */
  readonly rulesFolder?: string
  /** The folder of saved calls. */
  readonly saved?: SavedCalls
  /** Attaches as a screen to the capture that writes a listed recording; undefined without one. */
  control?(id: string): Promise<CaptureConnection | undefined>
}

/** Bytes, read while they are sent. */
export interface StoredContent {
  readonly sizeBytes: number
  readonly chunks: () => AsyncIterable<Uint8Array>
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

/** Messages found, newest recording first. */
export interface SearchFound {
  readonly matches: readonly FoundMessage[]
  /** There are more. */
  readonly isCut: boolean
}

/** A recorder in front of a server, with wiretape as its client. */
export interface UiRecorder {
  /** Starts it and initializes the session. */
  open(role: ClientRole): Promise<OpenServer | { readonly error: string }>
  /** Id of its recording, once open. */
  recording(): Promise<string>
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
