import type { MessageRecord, MetaRecord, Report, TapeRecord } from '../model/index.js'
import type { PlainForm, PlainFormat } from './trace-v1/plain-form.js'
import type { PlainLines } from './trace-v1/plain-lines.js'

/** A file to be read: its bytes from the start, any number of times. */
export interface Input {
  bytes(): AsyncIterable<Uint8Array>
  /** The whole file was read before and every line was JSON: that need not be checked again. */
  readonly checked?: boolean
  /** The caller uses each message's value soon: readers that have the value add it to the record. */
  readonly values?: boolean
  /**
   * The caller is done with a message before it requests the next: readers may lend its bytes (`LentMessage`).
   * `lines` are the plain lines of the last chunk, if another thread found them.
   */
  readonly lends?: { readonly lines: PlainLines | undefined }
  /** Facts from an earlier pass, for later passes. */
  readonly seen?: Seen
  /**
   * Selects records by their number in the output of `read`; the others are not created. Only for formats with
   * `selects`, and `checked` files. The sender of messages is then not inferred.
   */
  readonly only?: (record: number) => boolean
}

/** Facts about a file, noted by a reader. */
export interface Seen {
  /** No message has a time. */
  untimed?: boolean
  /** The first record replaces a line missing from the file. */
  made?: MetaRecord
}

/** As `Input`, for a file with random access. */
export interface FileInput {
  readonly sizeBytes: number
  /** @param from,to in bytes; `to` is exclusive @returns chunks, each valid until the next is requested */
  bytes(from: number, to: number): AsyncIterable<Uint8Array>
  /** Whether `bytes` contain an ASCII text: the runtime's native search is faster than a loop. */
  holds(bytes: Uint8Array, text: string): boolean
  /** Facts from an earlier pass. */
  readonly seen?: Seen
}

/** First and last record of a recording. */
export interface RecordingEnds {
  readonly first: TapeRecord
  readonly firstMessage: MessageRecord
  /** No message of the format has an id or links. */
  readonly nameless?: true
  readonly last: TapeRecord
}

/** A recording to be written: its records in file order, any number of times. */
export interface Recording {
  /** @param lent messages may be `LentMessage`s, valid until the next record is requested, in this form if possible */
  records(lent?: PlainForm): AsyncIterable<TapeRecord>
  /** Undefined where finding them requires reading all records. */
  ends?(): Promise<RecordingEnds | undefined>
  /**
   * The consumer of the written bytes releases a chunk before it requests the one after the next: the memory may then
   * be reused. @default false
   */
  readonly takesInTurn?: boolean
}

/**
 * A file format we can read, write, or both. Adding one = one folder + one line in registry.ts. Input and
 * recording may be read more than once: some formats begin with data that is known last, and a recording need
 * not fit into memory.
 */
export interface Format {
  /** The value of `--from`, `--to` and `--format`. */
  readonly id: string
  /** Display name. */
  readonly title: string
  /** The usual file name extension, with the dot. */
  readonly extension?: string
  /** 0 certainly not, 1 certainly. Reads the first bytes only; never throws. */
  detect(head: Uint8Array): number
  /** `read` respects `only`. @default false */
  readonly selects?: boolean
  /** `read` releases a chunk when it requests the next: the memory may be reused. @default false */
  readonly borrows?: boolean
  /** Its lines may be read as bytes: `read` respects `lends`. */
  readonly lends?: PlainFormat
  /** Yields records in file order. Problems go to `report`; only an unreadable source throws (WiretapeError). */
  read?(input: Input, report: Report): AsyncIterable<TapeRecord>
  /** First and last record of `read`, in a fraction of its time; undefined when that is impossible. */
  readEnds?(input: FileInput): Promise<RecordingEnds | undefined>
  /** Reports through `report` the data that the target cannot hold. */
  write?(recording: Recording, report: Report): AsyncIterable<Uint8Array>
}
