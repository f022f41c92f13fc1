import type { Disk } from './disk.js'

/** Settings for writing a tape. */
export interface JournalOptions {
  /** Write only the members of the published trace v1. @default false */
  readonly strict?: boolean
  /** Maximum size of a segment; only a single larger record may exceed it. @default no limit */
  readonly maxBytes?: number
  /** Number of segments kept; older ones are deleted. @default all */
  readonly maxFiles?: number
  /** A segment with records is closed at this age (`sealOld`). @default never */
  readonly sealAfterMs?: number
  readonly disk?: Disk
  /** The two clocks, for lines that the journal itself writes. */
  readonly now: () => { readonly t: string; readonly us: number }
}

/** State of a journal. */
export interface JournalReport {
  /** Existing files, oldest first. */
  readonly paths: readonly string[]
  /** Messages in the files, deleted segments included. */
  readonly messages: number
  /** Gap records in the files. */
  readonly gaps: number
  /** Messages missing from the files, with or without a gap record. */
  readonly lost: number
  /** The last reason why messages were lost or the end could not be written. */
  readonly trouble?: string
}

/** The current end of a tape. */
export interface TapeEnd {
  readonly segment: number
  /** Size of that segment, in whole lines. */
  readonly sizeBytes: number
  /** Not counted for a strict tape, which omits some lines. */
  readonly lines?: number
}
