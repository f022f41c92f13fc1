import type { Channel } from './channel.js'

/** Unrecorded traffic of one channel. */
export interface ChannelLoss {
  readonly channel: Channel
  readonly bytes: number
  readonly lines: number
  readonly atLineStart: boolean
}
