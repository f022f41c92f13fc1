import type { ObjectStore } from '../../ship/index.js'

/** A manifest for a collector to process. */
export interface Delivery {
  readonly manifest: Uint8Array
  /** Hash of the segment, if known without the manifest. */
  readonly hash?: string
  /** Number of deliveries, including this one. */
  readonly attempt: number
  /** Acknowledges it. */
  done(): Promise<void>
  /** Requests redelivery after a delay. */
  again(afterMs: number): void
  /** Signals progress. */
  working(): void
}

/** Segments that no index has yet. */
export interface Backlog {
  readonly segments: number
  /** When the oldest one was shipped; undefined without any. */
  readonly oldestMs: number | undefined
}

/** A source of sealed segments. */
export interface SegmentSource {
  /** The store of the segments. */
  readonly store: ObjectStore
  /** Whether collected segments are deleted there: a bus holds only uncollected ones. */
  readonly isQueue: boolean
  /** How often `working` must be called. */
  readonly workingMs: number
  /** Up to `most` deliveries; none if none arrived within `waitMs`. */
  next(most: number, waitMs: number): Promise<Delivery[]>
  /** Number of deliveries not taken yet. */
  waiting(): Promise<number>
  /** For metrics. Rejects if the source is unavailable. */
  backlog(): Promise<Backlog>
  close(): Promise<void>
}
