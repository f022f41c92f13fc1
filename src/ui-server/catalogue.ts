import type { ClientRole, OpenServer } from '../replay/index.js'
import type { CaptureConnection } from '../control/index.js'
import type { ListedRecording, SearchFound, SqlAnswer } from '../control-schema/index.js'
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

/** A recorder in front of a server, with wiretape as its client. */
export interface UiRecorder {
  /** Starts it and initializes the session. */
  open(role: ClientRole): Promise<OpenServer | { readonly error: string }>
  /** Id of its recording, once open. */
  recording(): Promise<string>
}
