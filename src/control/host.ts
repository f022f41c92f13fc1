import type {
  Command,
  Failure,
  GateState,
  HeldEvent,
  Role,
  ServerEvent,
  ServerHello,
  Success,
} from '../control-schema/index.js'

/** A capture's interface for its control socket. */
export interface ControlHost {
  hello(): Omit<ServerHello, 'type' | 'protocol'>
  /** Whether messages on the tape have numbers. */
  readonly hasNumbers: boolean
  state(): GateState
  /** Currently held messages, oldest first. */
  held(): readonly HeldEvent[]
  /** Executes a command of a screen. Rejects with a `Refusal`; any other error is a bug and reported as one. */
  execute(command: Exclude<Command, { type: 'subscribe' }>): Promise<Success>
  /** A program attached or detached. */
  attended(who: Attendance): void
}

/** Number of attached programs, by role. */
export interface Attendance {
  readonly screens: number
  readonly onlookers: number
}

/** Location of a capture's tape. */
export interface TapeSource {
  /** Path of a segment, whether it exists or not. */
  segmentPath(segment: number): string
  /** End of the last segment: its size, and its number of lines if counted. Undefined if only the file itself knows. */
  end(): { readonly segment: number; readonly sizeBytes: number; readonly lines?: number } | undefined
}

/** An event for all attached programs, or for one role. */
export interface Announcement {
  readonly event: ServerEvent
  readonly to: 'all' | Role
}

/** A command that fails, with the reason. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}
