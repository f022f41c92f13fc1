import type { Disk } from './disk.js'

/** How a tape is written. */
export interface JournalOptions {
  /** Only what the published trace v1 has. @default false */
  readonly strict?: boolean
  /** A segment is closed before it grows beyond this; only one record larger than that may. @default no limit */
  readonly maxBytes?: number
  /** Segments kept; older ones are deleted. @default all */
  readonly maxFiles?: number
  /** A segment that holds something is closed when it is this old (`sealOld`). @default never */
  readonly sealAfterMs?: number
  readonly disk?: Disk
  /** The two clocks, for the lines that the journal writes itself. */
  readonly now: () => { readonly t: string; readonly us: number }
}

/** What a journal has done. */
export interface JournalReport {
  /** Files that exist, oldest first. */
  readonly paths: readonly string[]
  /** Messages on the files, deleted segments included. */
  readonly messages: number
  /** Gap records on the files. */
  readonly gaps: number
  /** Messages that are not on the files, whether a gap could be written or not. */
  readonly lost: number
  /** Why messages were lost, or the end could not be written: the last reason. */
  readonly trouble?: string
}

/** How far a tape is written. */
export interface TapeEnd {
  readonly segment: number
  /** Of that segment: all of it whole lines. */
  readonly sizeBytes: number
  /** Not counted for a strict tape, which leaves some out. */
  readonly lines?: number
}
