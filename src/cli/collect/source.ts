import type { ObjectStore } from '../../ship/index.js'

/** A manifest that a collector has to deal with. */
export interface Delivery {
  readonly manifest: Uint8Array
  /** Of the segment, where the source knows it without the manifest. */
  readonly hash?: string
  /** How often it was delivered, this time included. */
  readonly attempt: number
  /** It is dealt with for good. */
  done(): Promise<void>
  /** Somebody shall try again, after a while. */
  again(afterMs: number): void
  /** It is still being worked on. */
  working(): void
}

/** Where sealed segments come from. */
export interface SegmentSource {
  /** Where the segments themselves are. */
  readonly store: ObjectStore
  /** Whether a segment is deleted there once it is collected: a bus holds only what is not. */
  readonly isQueue: boolean
  /** How often `working` must be called. */
  readonly workingMs: number
  /** Up to `most` deliveries; none when nothing came within `waitMs`. */
  next(most: number, waitMs: number): Promise<Delivery[]>
  /** Deliveries that nobody has taken yet. */
  waiting(): Promise<number>
  close(): Promise<void>
}
