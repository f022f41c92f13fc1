import { entryKinds, isMessageKind, type Fold } from '../../model/index.js'
import { noBoolean, noInt, rowsInGroup, sameValue, type ColumnValues } from './column-values.js'
import { DerivedColumns } from './derived-columns.js'
import { joinedValues } from './joined-values.js'
import type { ColumnType } from './parquet-table.js'
import { factsText, rowColumns, RowColumns, type RowColumn, type SessionFacts } from './row-columns.js'
import { RowGroups, textBytesOf } from './row-groups.js'
import { RowStore } from './row-store.js'
import { selectedValues } from './selected-values.js'

/** Values of a row's recording and session. They take a few bytes per group of rows, and spare queries a join. */
const sharedColumns = {
  part: 'text',
  recording: 'text',
  session: 'text',
  label: 'text',
  server: 'text',
  client: 'text',
  transport: 'text',
} as const satisfies Record<string, ColumnType>

const ownColumns = { ...rowColumns, tool: 'text' } as const satisfies Record<string, ColumnType>
const columns = { ...sharedColumns, ...ownColumns }
type SharedColumn = keyof typeof sharedColumns
type Column = keyof typeof columns
const names = Object.keys(columns) as Column[]
const shared = Object.keys(sharedColumns) as SharedColumn[]

/** Larger groups of rows are halved, since the size of a page has 31 bits. */
const mostTextBytes = 1 << 30

/** Two Parquet files: queries of messages need no filter, which would take most of their time. */
export interface TableFiles {
  readonly messages: readonly Uint8Array[]
  /** Rows without messages, and one row for each session. */
  readonly others: readonly Uint8Array[]
}

/** The rows of one recording in the store. */
interface Span {
  readonly from: number
  readonly to: number
  readonly facts: readonly SessionFacts[]
  readonly recording: string
  readonly part: string
}

/** The row of a session. */
interface SessionRow {
  readonly number: number
  /** Its facts. */
  readonly text: string
  readonly shared: Readonly<Record<SharedColumn, string | undefined>>
}

/** Sessions written at once. */
const mostSessions = 4_096

/** Rows of recordings as Parquet files. */
export class RecordingTable {
  readonly #mostTextBytes: number
  readonly #messages: RowGroups<Column>
  readonly #others: RowGroups<Column>
  readonly #store = new RowStore()
  readonly #derived = new DerivedColumns()
  /** Recordings with rows that are not written. */
  #spans: Span[] = []
  /** Rows of the store that are written. */
  #written = 0
  /** Sessions that are not written. */
  #sessions: SessionRow[] = []

  /** @param most bytes of text per column and group */
  constructor(most = mostTextBytes) {
    this.#mostTextBytes = most
    this.#messages = new RowGroups(columns, most)
    this.#others = new RowGroups(columns, most)
  }

  /** Watches the next recording while it is loaded, until `add` or `discard`. */
  begin(fold: Fold, recording: string, paths: readonly string[]): RowColumns {
    return new RowColumns(fold, recording, paths, this.#store)
  }

  /**
   * @param recording name for users
   * @param part identifies the recording and its state
   */
  add(rows: RowColumns, recording: string, part: string): void {
    const facts = rows.facts()
    const from = this.#store.length
    const end = from + rows.length
    if (end > from) this.#spans.push({ from, to: end, facts, recording, part })
    this.#store.length = end
    for (let at = from, to = from; at < end; at = to) {
      to = Math.min(end, at - (at % rowsInGroup) + rowsInGroup)
      rows.derive(at - from, to - at, this.#derived, at % rowsInGroup)
      if (to % rowsInGroup === 0) this.#flush(to)
    }
    for (const [number, own] of facts.entries()) {
      const values = shared.map((name) => [name, sharedValue(name, own, recording, part)])
      this.#sessions.push({
        number,
        text: factsText(own),
        shared: Object.fromEntries(values) as SessionRow['shared'],
      })
      if (this.#sessions.length === mostSessions) this.#flushSessions()
    }
  }

  /** Forgets the recording begun last, which cannot be read. */
  discard(): void {
    this.#store.cut()
  }

  /** Completes the files. */
  files(): TableFiles {
    this.#flush(this.#store.length)
    this.#flushSessions()
    return { messages: this.#messages.chunks(), others: this.#others.chunks() }
  }

  /** Rows of the sessions so far: one piece, since each has all columns. */
  #flushSessions(): void {
    const sessions = this.#sessions
    const count = sessions.length
    const own = Object.fromEntries(
      (Object.keys(ownColumns) as RowColumn[]).map((name) => [name, emptyOf(ownColumns[name], count)]),
    ) as Record<keyof typeof ownColumns, ColumnValues>
    const sharedPieces = shared.map((name) => {
      const runs = sessions.map(({ shared: values }) => ({ value: values[name], count: 1 }))
      return [name, { kind: 'runs', runs }]
    })
    this.#others.take(count, {
      ...(Object.fromEntries(sharedPieces) as Record<SharedColumn, ColumnValues>),
      ...own,
      session_number: { kind: 'ints', at: Int32Array.from(sessions, ({ number }) => number) },
      kind: sameValue('session', count),
      text: {
        kind: 'names',
        at: Int32Array.from(sessions.keys()),
        texts: sessions.map(({ text }) => text),
      },
    })
    this.#sessions = []
  }

  /** Writes the rows up to the end of a group, or of the last one. */
  #flush(to: number): void {
    for (let from = this.#written, end = to; from < to; from = end, end = to) {
      let values = this.#values(from, end)
      while (end - from > 1 && textBytesOf(values) > this.#mostTextBytes) {
        end = from + ((end - from) >> 1)
        values = this.#values(from, end)
      }
      this.#write(end - from, values)
    }
    if (to > this.#written) this.#store.release(to)
    this.#written = to
    this.#spans = this.#spans.filter((span) => span.to > to)
  }

  #write(count: number, values: Record<Column, ColumnValues>): void {
    const kinds = values.kind.kind === 'names' ? values.kind.at : new Int32Array(count)
    let others = 0
    for (let i = 0; i < count; i += 1) others += isMessage[kinds[i]!]! ? 0 : 1
    if (others === 0) return this.#messages.group(count, values)
    const selected = [new Int32Array(count - others), new Int32Array(others)] as const
    let [messages, rest] = [0, 0]
    for (let i = 0; i < count; i += 1)
      if (isMessage[kinds[i]!]) selected[0][messages++] = i
      else selected[1][rest++] = i
    for (const [i, file] of [this.#messages, this.#others].entries()) {
      const rows = selected[i]!
      const own = names.map((name) => [name, selectedValues(values[name], rows)])
      file.take(rows.length, Object.fromEntries(own) as typeof values)
    }
  }

  #values(from: number, to: number): Record<Column, ColumnValues> {
    const store = this.#store.values(from, to)
    const first = from % rowsInGroup
    const sessions = store.session_number
    const pieces = this.#spans
      .filter((span) => span.from < to && span.to > from)
      .map((span) => {
        const [start, end] = [Math.max(from, span.from), Math.min(to, span.to)]
        return sharedValues(sessions.at.subarray(start - from, end - from), span)
      })
    const sharedPieces = shared.map((name) => [name, joinedValues(pieces.map((piece) => piece[name]))])
    return {
      ...(Object.fromEntries(sharedPieces) as Record<SharedColumn, ColumnValues>),
      ...this.#derived.values(first, first + to - from, this.#store),
      ...store,
    }
  }
}

/** By number of the kind. */
const isMessage = entryKinds.map(isMessageKind)

/** @param numbers of the rows' sessions */
function sharedValues(
  numbers: Int32Array,
  { facts, recording, part }: Pick<Span, 'facts' | 'recording' | 'part'>,
): Record<SharedColumn, ColumnValues> {
  const isOne = numbers.every((number) => number === numbers[0])
  const values = shared.map((name): [string, ColumnValues] => {
    const value = (number: number): string | undefined => sharedValue(name, facts[number], recording, part)
    if (isOne) return [name, sameValue(value(numbers[0]!), numbers.length)]
    const texts = facts.map((_, number) => value(number) ?? '')
    const at = numbers.map((number) => (value(number) === undefined ? -1 : number))
    return [name, { kind: 'names', at, texts }]
  })
  return Object.fromEntries(values) as Record<SharedColumn, ColumnValues>
}

function sharedValue(
  name: SharedColumn,
  facts: SessionFacts | undefined,
  recording: string,
  part: string,
): string | undefined {
  const fact = name === 'recording' ? recording : name === 'part' ? part : facts?.[name]
  return typeof fact === 'string' ? fact : undefined
}

/** Without values. */
function emptyOf(type: ColumnType, count: number): ColumnValues {
  switch (type) {
    case 'text':
      return sameValue(undefined, count)
    case 'int':
      return { kind: 'ints', at: new Int32Array(count).fill(noInt) }
    case 'double':
      return { kind: 'doubles', at: new Float64Array(count).fill(Number.NaN) }
    case 'boolean':
      return { kind: 'booleans', at: new Uint8Array(count).fill(noBoolean) }
  }
}
