import type { Stamp } from './meaning.js'

export type Side = 'client' | 'server'

export interface SourceMessage {
  /** Checked JSON without surrounding white space. */
  readonly text: string
  /** The time of its entry, which overrides that of the message. */
  readonly stamp?: Stamp | undefined
  /** The sender, where the position shows it. */
  readonly side?: Side
}
