import type { Hash } from 'node:crypto'
import type { Direction } from '../model/index.js'
import type { FramePlace, GateEntry } from '../intercept/index.js'
import type { Redactor } from '../redaction/index.js'
import { LineFramer } from '../wire/index.js'
import { BatchLines } from './batch-lines.js'
import { directionOf, type Channel } from './channel.js'
import { Deliveries } from './deliveries.js'
import type { Ref } from './message-refs.js'
import type { Progress } from './thread-state.js'

/** Longer stderr lines are recorded in pieces. In bytes. */
const longestStderr = 65_536

/** A decision about a frame of a pipe. */
export type JudgedFrame = Extract<GateEntry, { kind: 'judge' }> & {
  place: Extract<FramePlace, { channel: string }>
}

/** The state of a channel: one kind of object for all channels, for speed. */
export class ChannelState {
  readonly channel: Channel
  readonly direction: Direction
  readonly lines: BatchLines
  readonly framer: LineFramer
  readonly deliveries = new Deliveries<Ref>()
  /** Decisions about frames that have not arrived yet, in their order. */
  readonly judged: JudgedFrame[] = []
  /** A message that is too long. */
  oversize: { hash: Hash; bytes: number } | undefined
  /** Bytes so far, including lost ones. */
  seenBytes: number
  /** Bytes up to the end of the last complete frame. */
  recorded: number
  /** Forwarded bytes minus received bytes. Held, edited and injected messages make them differ. */
  shift: number

  constructor(
    channel: Channel,
    redactor: Redactor,
    resume: Pick<Progress, 'recorded' | 'shift'> | undefined,
  ) {
    this.channel = channel
    this.direction = directionOf(channel)
    this.lines = new BatchLines(redactor, channel !== 'err')
    this.framer = new LineFramer({ borrowed: true, ...(channel === 'err' && { maxBytes: longestStderr }) })
    this.seenBytes = this.recorded = resume?.recorded[channel] ?? 0
    this.framer.skip(this.seenBytes)
    this.shift = (channel === 'err' ? undefined : resume?.shift[channel]) ?? 0
  }
}
