import type { SavedFile, SavedServerShown } from '../saved-calls/index.js'
import type { RecordedServer } from './recorded-server.js'
/** A folder of saved calls. All methods but `list` throw WiretapeError. */
export interface SavedCalls {
  readonly folder: string
  /** @param given values of variables by file and name, as a person typed them */
  list(given: ReadonlyMap<string, Given>): Promise<readonly SavedFile[]>
  /**
   * Starts and reaches nothing unless all servers are allowed.
   *
   * @param isAllowed whether a person consented to the server with this key
   * @param signal stops the run: the remaining calls are not made
   */
  run(
    wanted: CallsToRun,
    isAllowed: (key: string) => boolean,
    signal: AbortSignal,
  ): Promise<SavedRuns | ServersToConfirm>
  /** @returns a line to display */
  save(call: CallToKeep): Promise<string>
}

/** Values by name of the variable. */
export type Given = Readonly<Record<string, string>>

export interface CallsToRun {
  readonly file: string
  /** One call; undefined for all. */
  readonly name?: string
  readonly given: Given
}

/** Exchanges of the report of `wiretape run`. */
export interface SavedRuns {
  readonly exchanges: readonly SavedRun[]
}

export interface ServersToConfirm {
  readonly ask: readonly SavedServerShown[]
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
