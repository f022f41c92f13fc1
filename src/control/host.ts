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

/** What a capture hands in to be controlled. */
export interface ControlHost {
  hello(): Omit<ServerHello, 'type' | 'protocol'>
  /** Whether messages on the tape have numbers. */
  readonly hasNumbers: boolean
  state(): GateState
  /** Messages that wait now, oldest first. */
  held(): readonly HeldEvent[]
  /** Carries out a command of a screen. Rejects with a `Refusal`; anything else is a bug, and told as one. */
  execute(command: Exclude<Command, { type: 'subscribe' }>): Promise<Success>
  /** Somebody came or went. */
  attended(who: Attendance): void
}

/** How many are attached, by role. */
export interface Attendance {
  readonly screens: number
  readonly onlookers: number
}

/** Where a capture's tape is. */
export interface TapeSource {
  /** Path of a segment, whether it exists or not. */
  segmentPath(segment: number): string
  /** How far its last segment is written, and how many lines that is, where they are counted. Undefined where only the file tells. */
  end(): { readonly segment: number; readonly sizeBytes: number; readonly lines?: number } | undefined
}

/** An event that goes to all, or to those who decide. */
export interface Announcement {
  readonly event: ServerEvent
  readonly to: 'all' | Role
}

/** Why a command is not carried out. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}
