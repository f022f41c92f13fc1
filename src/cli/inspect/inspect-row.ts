import type { Finding } from '../../findings/index.js'
import type {
  Direction,
  EntryKind,
  Fact,
  Part,
  Session,
  TapeRecord,
  NamedRequest,
} from '../../model/index.js'
import type { LoadedRecording } from '../recordings.js'

/** One line of the list: a record or one of its messages, with facts from the whole recording. */
export interface InspectRow {
  readonly recording: LoadedRecording
  /** Undefined before the first meta line. */
  readonly session: Session | undefined
  /** Wall clock of the session's start; NaN if unknown. */
  readonly startMs: number
  /** Row number in the fold. */
  readonly row: number
  readonly kind: EntryKind
  readonly direction: Direction
  readonly record: TapeRecord
  /** Set for messages. */
  readonly part?: Part
  /** Exact text of the message; '' for other rows. */
  readonly raw: string
  /** Message number; -1 for other rows. */
  readonly seq: number
  readonly t: string
  /** Microseconds since the session's start; undefined if unknown. */
  readonly us: number | undefined
  readonly sizeBytes: number
  /** From the request to this response. */
  readonly latencyUs?: number
  /** Part of the time excluded from `latencyUs`: the server waited for its client. */
  readonly waitedUs?: number
  /** For a response: number of the request. */
  readonly answers?: number
  /** For a request listed without its response: number of the response. */
  readonly answeredIn?: number
  /** For a response: method and subject of the request. */
  readonly request?: NamedRequest
  /** Message number of the request that each link of the part names; undefined if unknown. */
  readonly linked: readonly (number | undefined)[]
  readonly facts: ReadonlySet<Fact>
  /** Findings, if rules were run. */
  readonly findings?: readonly Finding[]
  /** Held time in milliseconds. */
  readonly heldMs?: number
}

/** The input of filters. Most rows are not shown and therefore never made. */
export type RowMatter = Pick<InspectRow, 'recording' | 'session' | 'row' | 'record' | 'part' | 'request'>
