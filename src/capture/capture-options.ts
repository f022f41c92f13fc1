import type { RecordingReport } from '../proxy/index.js'
import type { TelemetryOutcome } from '../telemetry/index.js'
import type { InterceptOptions } from '../intercept/index.js'
import type { JsonMembers, RestartFacts, Transport } from '../model/index.js'
import type { EarlyThread, Recorder, Redaction, RegionPool, SessionEnd } from '../proxy/index.js'
import type { Redactor } from '../redaction/index.js'
import type { Telemetry } from '../telemetry/index.js'
import type { MakeGuard } from './live-context.js'
import type { Live } from './live.js'

/** Where and how to record, whatever the transport. */
export interface CaptureOptions {
  /** Folder of the tape; created when missing. */
  readonly folder: string
  /** Folder in which live captures are registered. */
  readonly registryFolder: string
  readonly label: string
  readonly metadata: JsonMembers
  readonly strict: boolean
  readonly maxBytes?: number
  readonly maxFiles?: number
  /** A non-empty segment is closed at this age, so that it can be shipped. */
  readonly sealAfterMs?: number
  /** A session file to keep beside the tape. Segments of the tape then stay until it is saved for the last time. */
  readonly sessionFile?: string
  /** Session files have every payload on one line. @default false */
  readonly compact?: boolean
  /** Redaction of everything that is recorded or shown; forwarded bytes are never touched. */
  readonly redaction: Redaction
  /** The key, as hexadecimal digits, that signs how the server is started. Agents never run recordings without it. */
  readonly originKey?: () => string | undefined
  /** wiretape's own version. */
  readonly version: string
  /** Holds messages from the start. */
  readonly intercept?: InterceptOptions
  /** Problems that a person should know of immediately. One line. */
  readonly onTrouble?: (line: string) => void
  /** Checks every message before it is forwarded. Loaded when the capture is prepared; throws WiretapeError `usage`. */
  readonly guard?: () => Promise<MakeGuard>
  /** Absolute path of a file of rules that change messages. */
  readonly rulesFile?: string
  /** Exports the recording. Loaded when the capture is prepared; throws WiretapeError `usage`. */
  readonly telemetry?: () => Promise<Telemetry | undefined>
}

/** The recorded target, unredacted. It is redacted before it is written or shown. */
export interface CaptureTarget {
  readonly transport: Transport
  /** Argv of the server; `[]` over HTTP. */
  readonly command: readonly string[]
  readonly url: string | null
  /** How messages reach the recorder. @default `pipes` for stdio, else `http` */
  readonly wire?: 'pipes' | 'http'
  /** Name of this target, if a run has several. @default the label of the run */
  readonly label?: string
}

/** The files and the recording thread of one run. */
export interface RunningCapture {
  readonly redactor: Redactor
  /** The first segment. */
  readonly path: string
  /**
   * Starts the recording thread.
   *
   * @param onPressure called with true when the senders must wait
   * @param early memory that chunks are read into, and a thread that loads already
   */
  record(
    onPressure: (wait: boolean) => void,
    early?: { readonly pool: RegionPool; readonly thread?: EarlyThread | undefined },
  ): Recorder
  /** Makes the capture known to `ls`. */
  register(): void
  /** Lets screens and scripts attach. */
  readonly live: Live
  /** Writes a note to the tape, once there is a recorder. */
  readonly note: (text: string, restart?: RestartFacts) => void
  /** Ends the tape and saves the session file. */
  finish(end: SessionEnd): Promise<CaptureFiles>
  /** Releases everything except files; can be called at any time, and twice. */
  close(): void
}

/** The outcome of a capture's files. */
export interface CaptureFiles {
  readonly tape: RecordingReport
  /** Why the policy allowed no recording. */
  readonly unrecorded?: string
  /** Why the session file could not be saved. */
  readonly sessionTrouble?: string
  /** Why nothing was held, although requested. */
  readonly notHeld?: string
  /** Why the rules of a changed file were not in force. */
  readonly rulesFault?: string
  /** The outcome of the telemetry, if requested. */
  readonly telemetry?: TelemetryOutcome
}
