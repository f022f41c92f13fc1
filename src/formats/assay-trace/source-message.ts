import type { Stamp } from './meaning.js'

export type Side = 'client' | 'server'

export interface SourceMessage {
  /** Checked JSON without white space around it. */
  readonly text: string
  /** What its entry says, which counts more than what the message says. */
  readonly stamp?: Stamp | undefined
  /** Who sent it, where its place tells. */
  readonly side?: Side
}
