import type { Report, TapeRecord } from '../model/index.js'

/** A file to be read: its bytes from the start, as often as they are asked for. */
export interface Input {
  bytes(): AsyncIterable<Uint8Array>
  /** All of it was read before, and every line was JSON: that need not be looked at again. */
  readonly checked?: boolean
}

/** What is to be written: the records in file order, as often as they are asked for. */
export interface Recording {
  records(): AsyncIterable<TapeRecord>
}

/**
 * A file format we can read, write, or both. Adding one = one folder + one line in registry.ts. Input and
 * recording may be gone through more than once: some formats say first what is known last, and a recording
 * need not fit into memory.
 */
export interface Format {
  /** The value of `--from`, `--to` and `--format`. */
  readonly id: string
  /** What a person calls it. */
  readonly title: string
  /** The usual end of its file names, with the dot. */
  readonly extension?: string
  /** 0 certainly not, 1 certainly. Looks at the first bytes only; never throws. */
  detect(head: Uint8Array): number
  /** Yields records in file order. Problems go to `report`; only an unreadable source throws (WiretapeError). */
  read?(input: Input, report: Report): AsyncIterable<TapeRecord>
  /** Says through `report` what the target cannot hold. */
  write?(recording: Recording, report: Report): AsyncIterable<Uint8Array>
}
