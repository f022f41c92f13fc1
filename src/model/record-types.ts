import type { Direction } from './envelope.js'
import type { FrameRecord, LoneRecord, TapeRecord } from './record.js'
import { utf8Length } from './utf8-length.js'

/** Rows of a record: one per message, one for the record itself, or none. */
type RowsOf<T> = T extends FrameRecord['type'] ? 'messages' : T extends LoneRecord['type'] ? 'itself' : 'none'

interface RecordType<T> {
  readonly rows: RowsOf<T>
  /** Plural for summaries. */
  readonly plural: string
  /** Description of the filter `is:` with its name; for types with rows of their own. */
  readonly about?: string
}

/** Every record type. */
export const recordTypes: { readonly [T in TapeRecord['type']]: RecordType<T> } = {
  message: { rows: 'messages', plural: 'messages' },
  held: { rows: 'messages', plural: 'records of held messages' },
  noise: { rows: 'itself', plural: 'lines that are not JSON', about: 'a line that is not JSON' },
  stderr: { rows: 'itself', plural: 'stderr lines', about: 'a line of stderr' },
  gap: { rows: 'itself', plural: 'gaps', about: 'unrecorded traffic' },
  http: { rows: 'itself', plural: 'HTTP exchanges without JSON-RPC', about: 'HTTP without JSON-RPC' },
  meta: { rows: 'none', plural: 'meta lines' },
  end: { rows: 'none', plural: 'end lines' },
  undelivered: { rows: 'none', plural: 'records of undelivered messages' },
  dropped: { rows: 'none', plural: 'records of dropped messages' },
  note: { rows: 'none', plural: 'notes' },
  unknown: { rows: 'none', plural: 'lines of unknown types' },
}

export function isFrameRecord(record: TapeRecord): record is FrameRecord {
  return recordTypes[record.type].rows === 'messages'
}

export function isLoneRecord(record: TapeRecord): record is LoneRecord {
  return recordTypes[record.type].rows === 'itself'
}

/** Facts about a record that is itself a row. */
export interface LoneFacts {
  /** Null when the record has none. */
  readonly direction: Direction | null
  readonly sizeBytes: number
  /** A line, or the body of an HTTP response; null for neither. */
  readonly text: string | null
  /** Replaces a missing text in tables. */
  readonly summary: string
}

export function loneFacts(record: LoneRecord): LoneFacts {
  switch (record.type) {
    case 'noise':
      return { direction: record.direction, ...lineFacts(record.text) }
    case 'stderr':
      return { direction: null, ...lineFacts(record.text) }
    case 'gap': {
      const { direction = null, lostBytes: sizeBytes = 0, lost, why } = record
      return { direction, sizeBytes, text: null, summary: `${lost} lost: ${why}` }
    }
    case 'http': {
      const { sizeBytes = 0, body: text = null, why: summary = '' } = record
      return { direction: 'server_to_client', sizeBytes, text, summary }
    }
  }
}

function lineFacts(text: string): Pick<LoneFacts, 'sizeBytes' | 'text' | 'summary'> {
  return { sizeBytes: utf8Length(text, 0, text.length), text, summary: '' }
}
