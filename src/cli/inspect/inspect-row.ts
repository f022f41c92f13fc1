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

/** One line of the list: what one record or one message of it says, with what only the whole tells. */
export interface InspectRow {
  readonly recording: LoadedRecording
  /** Undefined before the first meta line. */
  readonly session: Session | undefined
  /** Wall clock of the session's start; NaN where it is not known. */
  readonly startMs: number
  /** Its number in the fold of the recording. */
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
  /** Microseconds since the session began; undefined where that is not known. */
  readonly us: number | undefined
  readonly sizeBytes: number
  /** Between the request and this answer to it. */
  readonly latencyUs?: number
  /** Of what `latencyUs` leaves out, the time for which a server waited for its client before it answered. */
  readonly waitedUs?: number
  /** For an answer: number of the request. */
  readonly answers?: number
  /** For a request that stands without its answer: number of that. */
  readonly answeredIn?: number
  /** For an answer: what the request was about. */
  readonly request?: NamedRequest
  /** Message number of the request that each link of the part names; undefined where it is not known. */
  readonly linked: readonly (number | undefined)[]
  readonly facts: ReadonlySet<Fact>
  /** What rules found in it, where they were run. */
  readonly findings?: readonly Finding[]
  /** For how long it was held, in milliseconds. */
  readonly heldMs?: number
}

/** What decides whether a row is shown. Most rows are not: they are never made. */
export type RowMatter = Pick<InspectRow, 'recording' | 'session' | 'row' | 'record' | 'part' | 'request'>
