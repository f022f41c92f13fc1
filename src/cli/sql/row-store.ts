import { Ints, Names, noInt, Numbers, rowsInGroup, Texts, type ColumnValues } from './column-values.js'

/**
 * Values of rows as they are read, of one recording after the other. Recordings share its memory and groups, since each would
 * otherwise leave megabytes of garbage.
 */
export class RowStore {
  /** Number of the session in its recording. */
  readonly session = new Ints(-1)
  readonly timeMs = new Numbers()
  readonly method = new Names()
  readonly subject = new Names()
  readonly id = new Texts()
  readonly errorCode = new Names()
  readonly errorMessage = new Texts()
  readonly conversation = new Names()
  readonly status = new Ints(noInt)
  /** Index of the file in the recording. */
  readonly file = new Ints(noInt)
  readonly start = new Numbers()
  readonly end = new Numbers()
  readonly text = new Texts()
  /** Rows of the recordings so far. The next recording begins here. */
  length = 0

  /**
   * Columns with unchanged values, from row `from` to before `to`.
   *
   * @param to in the same group of `rowsInGroup` rows
   */
  values(from: number, to: number) {
    const ints = (column: Ints) => ({ kind: 'ints', at: column.rows(from, to) }) as const
    const doubles = (column: Numbers) => ({ kind: 'doubles', at: column.rows(from, to) }) as const
    return {
      session_number: ints(this.session),
      id: this.id.rows(from, to),
      error_code: this.errorCode.rows(from, to),
      error_message: this.errorMessage.rows(from, to),
      conversation: this.conversation.rows(from, to),
      http_status: ints(this.status),
      file: ints(this.file),
      payload_start: doubles(this.start),
      payload_end: doubles(this.end),
      text: this.text.rows(from, to),
    } satisfies Record<string, ColumnValues>
  }

  /** Forgets the rows from `length` on: their recording cannot be read. */
  cut(): void {
    for (const column of this.#columns()) column.cut(this.length)
  }

  /** Gives up the rows of the group that ends before row `to`. */
  release(to: number): void {
    for (const column of this.#columns()) column.release(Math.floor((to - 1) / rowsInGroup))
  }

  #columns(): readonly (Ints | Numbers | Names | Texts)[] {
    return [
      this.session,
      this.timeMs,
      this.method,
      this.subject,
      this.id,
      this.errorCode,
      this.errorMessage,
      this.conversation,
      this.status,
      this.file,
      this.start,
      this.end,
      this.text,
    ]
  }
}
