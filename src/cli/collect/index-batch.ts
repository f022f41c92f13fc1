import { randomBytes } from 'node:crypto'
import { detach } from '../../model/index.js'
import type { Manifest, ObjectStore } from '../../ship/index.js'
import {
  fitting,
  noCells,
  ParquetTable,
  type Cell,
  type Cells,
  type ColumnType,
} from '../sql/parquet-table.js'
import { rowColumns, type RowColumn, type RowColumns } from '../sql/row-columns.js'
import { writeCommit, type BatchCommit } from './commit.js'

const { file: _file, ...ownColumns } = rowColumns
const sourceColumns = {
  segment: 'text',
  host: 'text',
  user: 'text',
  session: 'text',
  label: 'text',
  server_name: 'text',
  client: 'text',
  transport: 'text',
} as const satisfies Record<string, ColumnType>
/** Columns of a fleet's index: each row includes its own source. */
const columns = { ...sourceColumns, ...ownColumns }
type Column = keyof typeof columns
const sessionColumns = { ...sourceColumns, segment_number: 'int', facts: 'text' } as const
type SessionColumn = keyof typeof sessionColumns
type OwnColumn = Exclude<RowColumn, 'file'>
const ownNames = Object.keys(ownColumns) as OwnColumn[]

/** Rows read from a segment at once. */
const rowsAtOnce = 8_192
/** Rows of a partition written as one group. */
const rowsInGroup = 16_384

interface Partition {
  readonly day: string
  readonly server: string
  readonly table: ParquetTable<Column>
  cells: Cells<Column>
  rows: number
}

/** Values shared by all rows of a session. */
type SessionCells = Readonly<Record<SessionColumn, Cell>> & { readonly startMs: number }

/** Collects rows of segments to write one Parquet file for each day and server. */
export class IndexBatch {
  /** Sorts by time. */
  readonly id = `${new Date().toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(6).toString('hex')}`
  readonly #partitions = new Map<string, Partition>()
  readonly #sessions = noCells(sessionColumns)
  readonly #segments: { hash: string; rows: number }[] = []
  #rows = 0

  get rows(): number {
    return this.#rows
  }

  get segments(): number {
    return this.#segments.length
  }

  add(rows: RowColumns, manifest: Manifest): void {
    const facts = rows.sessions().map((text) => sessionCells(text, manifest))
    const fallback = sessionCells('{}', manifest)
    for (let from = 0; from < rows.length; from += rowsAtOnce)
      this.#take(rows.cells(from, Math.min(rows.length, from + rowsAtOnce)), facts, fallback)
    for (const session of facts)
      for (const name of Object.keys(sessionColumns) as SessionColumn[])
        this.#sessions[name].push(fitting(session[name], sessionColumns[name]))
    this.#segments.push({ hash: manifest.hash, rows: rows.length })
    this.#rows += rows.length
  }

  /** Writes the files, and the commit last: only then does the batch count. */
  async write(store: ObjectStore): Promise<void> {
    const files: BatchCommit['files'] = []
    for (const partition of this.#partitions.values()) {
      const { day, server, rows } = partition
      flush(partition)
      const bytes = partition.table.bytes()
      // A number distinguishes names that differ only in case, since some file systems do not.
      const key = `index/day=${day}/server=${escapeName(server)}/${this.id}-${files.length}.parquet`
      await store.put(key, bytes)
      files.push({ key, day, rows, bytes: bytes.length })
    }
    const table = new ParquetTable(sessionColumns, 'SNAPPY')
    table.group(this.#sessions)
    const sessions = table.bytes()
    const sessionsKey = `index/sessions/${this.id}.parquet`
    await store.put(sessionsKey, sessions)
    await writeCommit(store, {
      v: 1,
      batch: this.id,
      files,
      sessions: { key: sessionsKey, bytes: sessions.length },
      segments: this.#segments,
    })
  }

  #take(cells: Cells<RowColumn>, facts: readonly SessionCells[], fallback: SessionCells): void {
    for (let i = 0; i < cells.kind.length; i += 1) {
      const session = facts[Number(cells.session_number[i])] ?? fallback
      const timeMs = cells.time_ms[i]
      const partition = this.#partition(
        dayOf(typeof timeMs === 'number' ? timeMs : session.startMs),
        String(session.server_name ?? session.label ?? 'unknown'),
      )
      const to = partition.cells
      to.segment.push(session.segment)
      to.host.push(session.host)
      to.user.push(session.user)
      to.session.push(session.session)
      to.label.push(session.label)
      to.server_name.push(session.server_name)
      to.client.push(session.client)
      to.transport.push(session.transport)
      for (const name of ownNames) to[name].push(fitting(cells[name][i], ownColumns[name]))
      partition.rows += 1
      if (to.kind.length >= rowsInGroup) flush(partition)
    }
  }

  #partition(day: string, server: string): Partition {
    const key = `${day} ${server}`
    let partition = this.#partitions.get(key)
    if (!partition) {
      partition = {
        day,
        server,
        table: new ParquetTable(columns, 'SNAPPY'),
        cells: noCells(columns),
        rows: 0,
      }
      this.#partitions.set(key, partition)
    }
    return partition
  }
}

function flush(partition: Partition): void {
  if (partition.cells.kind.length === 0) return
  partition.table.group(partition.cells)
  partition.cells = noCells(columns)
}

function sessionCells(text: string, manifest: Manifest): SessionCells {
  const facts = JSON.parse(text) as Readonly<Record<string, unknown>>
  const said = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? detach(value) : undefined
  return {
    segment: manifest.hash,
    segment_number: manifest.segment,
    facts: detach(text),
    host: said(manifest.host),
    user: said(manifest.user),
    session: said(facts['session']) ?? said(manifest.session),
    label: said(facts['label']) ?? said(manifest.label),
    // Only a session's first segment has the response to `initialize`; views join the others by session.
    server_name: said(facts['server']),
    client: said(facts['client']),
    transport: said(facts['transport']),
    startMs: Date.parse(said(facts['startedAt']) ?? manifest.startedAt),
  }
}

/** UTC day; an impossible time gives the first valid day. */
function dayOf(ms: number): string {
  const isDay = ms >= 0 && ms < Date.UTC(10_000, 0)
  return isDay ? new Date(ms).toISOString().slice(0, 10) : '1970-01-01'
}

/** Escapes a name for one path segment: other bytes become `_` and two hexadecimal digits. */
export function escapeName(name: string): string {
  const escaped = [...Buffer.from(name.slice(0, 200))].map((byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9.-]/.test(char) ? char : `_${byte.toString(16).padStart(2, '0')}`
  })
  // A path segment has 255 bytes at most.
  return escaped.join('').slice(0, 120)
}
