import type { Report, TapeRecord } from '../model/index.js'

/** A file format we can read, write, or both. Adding one = one folder + one line in registry.ts. */
export interface Format {
  /** The value of `--from`, `--to` and `--format`. */
  readonly id: string
  /** What a person calls it. */
  readonly title: string
  /** 0 certainly not, 1 certainly. Looks at the first bytes only; never throws. */
  detect(head: Uint8Array): number
  /** Yields records in file order. Problems go to `report`; only an unreadable source throws (WiretapeError). */
  read?(source: AsyncIterable<Uint8Array>, report: Report): AsyncIterable<TapeRecord>
  /** Says through `report` what the target cannot hold. */
  write?(records: AsyncIterable<TapeRecord>, report: Report): AsyncIterable<Uint8Array>
}
