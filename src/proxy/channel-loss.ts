import type { Channel } from './channel.js'

/** What passed while nobody recorded, on one channel. */
export interface ChannelLoss {
  readonly channel: Channel
  readonly bytes: number
  readonly lines: number
  readonly atLineStart: boolean
}
