import type { ClientRole, OpenServer } from '../replay/index.js'
import type { CaptureConnection } from '../control/index.js'
import type { SavedCalls } from './saved-calls.js'
import type { RecordedServer } from './recorded-server.js'

/** What the server may give out; only what is listed can be asked for. */
export interface Catalogue {
  /** Address of the store whose sessions these are; undefined for the data folder. */
  readonly store?: string
  /** What was named on the command line. */
  given(): Promise<readonly ListedRecording[]>
  /** The recordings of the data folder, newest first. */
  recordings(): Promise<readonly ListedRecording[]>
  /** Path of a file of a listed recording. */
  pathOf(id: string, index: number): Promise<string | undefined>
  /** The same of one that is no file of this machine. */
  contentOf?(id: string, index: number): Promise<StoredContent | undefined>
  /**
   * Runs an SQL query over all recordings, as `wiretape sql` does.
   *
   * @throws WiretapeError `usage` for what the engine refuses, and without an engine
   */
  sql?(query: string, signal: AbortSignal): Promise<SqlAnswer>
  /** Whether a capture writes this file now, and which file goes on after it. */
  progressOf(path: string): Promise<{ readonly live: boolean; readonly next?: string }>
  /** Has the capture that writes this file tell when it wrote something; undefined when it cannot be asked. */
  attend(path: string, changed: () => void): Promise<{ close(): void } | undefined>
  /**
   * Looks into all recordings of the data folder, as `wiretape search` does.
   *
   * @throws WiretapeError `usage` for a filter that is wrong
   */
  search?(filter: string): Promise<SearchFound>
  /**
   * Deletes a listed recording of the data folder.
   *
   * @throws WiretapeError for one that is live, is not in the data folder or cannot be deleted
   */
  remove?(id: string): Promise<void>
  /** How the server of a listed recording is reached. */
  server?(id: string): Promise<RecordedServer | undefined>
  /**
   * Called for what a person agreed to only.
   *
   * @param headers for a URL; their values are secrets
   * @throws WiretapeError `usage` for a header that cannot be sent
   */
  recorder?(server: RecordedServer, headers: readonly (readonly [name: string, value: string])[]): UiRecorder
  /** For the rules of captures that have no file of rules. */
  readonly rulesFolder?: string
  /** The folder of saved calls. */
  readonly saved?: SavedCalls
  /** Attaches as a screen to the capture that writes a listed recording; undefined when none does. */
  control?(id: string): Promise<CaptureConnection | undefined>
}

/** Bytes that are read as they are sent. */
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

/** A recording that the viewer may ask for. */
export interface ListedRecording {
  /** Names it in addresses; nothing can be learned or guessed from it. */
  readonly id: string
  readonly name: string
  readonly label: string
  readonly startedAt: string
  readonly sizeBytes: number
  readonly messages: number | null
  /** JSON-RPC errors and results of tools that failed; null where nobody counted them. */
  readonly errors: number | null
  readonly durationMs: number | null
  /** Name and version, as they call themselves. */
  readonly server: string | null
  readonly client: string | null
  /** The machine and user of a recording in a store. */
  readonly host?: string
  readonly state: 'live' | 'complete' | 'incomplete' | 'failed'
  /** Base names of its files, in the order of their segments. */
  readonly files: readonly string[]
  /** Absolute path of the first file, for commands that a person copies. */
  readonly path: string
}

/** Messages that a search found, those of the newest recording first. */
export interface SearchFound {
  readonly matches: readonly FoundMessage[]
  /** There are more. */
  readonly isCut: boolean
}

/** A recorder before a server, and wiretape as its client. */
export interface UiRecorder {
  /** Starts it and greets the server. */
  open(role: ClientRole): Promise<OpenServer | { readonly error: string }>
  /** Id of the recording that it makes, once it is open. */
  recording(): Promise<string>
}

export interface FoundMessage {
  /** Of its recording. */
  readonly id: string
  readonly label: string | null
  /** Null for what is no message. */
  readonly sequence: number | null
  readonly timestamp: string | null
  readonly method: string | null
  readonly subject: string | null
  readonly snippet: string
  /** Place of the match in the snippet. */
  readonly match: { readonly start: number; readonly end: number } | null
}
