import type { MessageRecord, MetaRecord, Report, TapeRecord } from '../model/index.js'

/** A file to be read: its bytes from the start, as often as they are asked for. */
export interface Input {
  bytes(): AsyncIterable<Uint8Array>
  /** All of it was read before, and every line was JSON: that need not be looked at again. */
  readonly checked?: boolean
  /** Each message is looked at as a value, and soon: a reader that has the value at hand adds it. */
  readonly values?: boolean
  /** What reading it before has shown, for who reads it again. */
  readonly seen?: Seen
  /**
   * The records that are wanted, by their numbers, as `read` would give them: the others are not even made. Only for
   * formats that say `selects`, and of what is `checked`. Who sent a message is not concluded then.
   */
  readonly only?: (record: number) => boolean
}

/** Notes of a reader about a file. */
export interface Seen {
  /** No message says when it was. */
  untimed?: boolean
  /** The first record stands for a line that the file does not have. */
  made?: MetaRecord
}

/** As `Input`, of a file: any part of it can be read. */
export interface FileInput {
  readonly sizeBytes: number
  /** @param from,to in bytes; `to` is not in it @returns chunks that are valid until the next one is asked for */
  bytes(from: number, to: number): AsyncIterable<Uint8Array>
  /** Whether `bytes` hold an ASCII text: what runs us finds it sooner than we do. */
  holds(bytes: Uint8Array, text: string): boolean
  /** What reading it before has shown. */
  readonly seen?: Seen
}

/** What stands around the messages of a recording. */
export interface RecordingEnds {
  readonly first: TapeRecord
  readonly firstMessage: MessageRecord
  /** No message of the format has an id or links. */
  readonly nameless?: true
  readonly last: TapeRecord
}

/** What is to be written: the records in file order, as often as they are asked for. */
export interface Recording {
  records(): AsyncIterable<TapeRecord>
  /** Undefined where they are not to be had without going through all records. */
  ends?(): Promise<RecordingEnds | undefined>
  /**
   * Who takes the bytes that are written is done with a chunk before asking for the one after the next: its memory may be
   * used again. @default false
   */
  readonly takesInTurn?: boolean
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
  /** `read` heeds `only`. @default false */
  readonly selects?: boolean
  /** `read` is done with a chunk when it asks for the next: its memory may be used again. @default false */
  readonly borrows?: boolean
  /** Yields records in file order. Problems go to `report`; only an unreadable source throws (WiretapeError). */
  read?(input: Input, report: Report): AsyncIterable<TapeRecord>
  /** What `read` would give first and last, for a fraction of its time; undefined where that cannot be told. */
  readEnds?(input: FileInput): Promise<RecordingEnds | undefined>
  /** Says through `report` what the target cannot hold. */
  write?(recording: Recording, report: Report): AsyncIterable<Uint8Array>
}
