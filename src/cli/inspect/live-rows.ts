import {
  createRecent,
  isLoneRecord,
  isAnswer,
  type Fold,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
  type NamedRequest,
} from '../../model/index.js'
import type { LoadedRecording } from '../recordings.js'
import { columnsOf, messageRow, requestNumbers } from './rows.js'
import type { InspectRow } from './inspect-row.js'

/** Requests kept for their responses; older ones are dropped. */
const requestsKept = 32_768

/** Rows of a live recording, as its records arrive. */
export interface LiveRows {
  /** Rows that the record adds to the list; the outcome of a held message is a row too. */
  take(record: TapeRecord): InspectRow[]
}

export function createLiveRows(fold: Fold): LiveRows {
  const { entries } = fold
  const numbers = requestNumbers()
  /** Method and subject of requests by row. */
  const asked = createRecent<NamedRequest, number>({ entries: requestsKept })
  const recording: LoadedRecording = {
    files: [],
    // Records are printed on arrival and read once.
    records: async function* () {},
    fold,
    problems: [],
    problemCount: 0,
    notes: { list: [], count: 0 },
    longestId: 0,
  }

  /** Records of held messages, with their first row. */
  const held = new Map<string, { readonly record: HeldRecord; readonly first: number }>()

  function rowsOf(record: MessageRecord | HeldRecord, first: number): InspectRow[] {
    return record.parts.map((part, i) => {
      const row = first + i
      const { method, subject, kind } = part.envelope
      if (kind === 'request' && method !== undefined) {
        asked.set(row, { method, ...(subject !== undefined && { subject }) })
      }
      const request = isAnswer(part.envelope) ? asked.get(entries.peer(row)) : undefined
      const message = messageRow(entries, record, { row, part, ...(request && { request }) }, numbers, true)
      return { ...ofSession(), record, t: record.t, ...columnsOf(entries, row), ...message }
    })
  }

  function ofSession(): Pick<InspectRow, 'recording' | 'session' | 'startMs'> {
    const session = fold.sessions.at(-1)
    return { recording, session, startMs: session ? Date.parse(session.startedAt) : NaN }
  }

  return {
    take(record) {
      const { first } = fold.push(record)
      switch (record.type) {
        case 'held':
          held.set(record.parts[0]?.id ?? '', { record, first })
          return rowsOf(record, first)
        case 'message':
          held.delete(record.parts[0]?.id ?? '')
          return rowsOf(record, first)
        case 'dropped': {
          const dropped = held.get(record.id)
          held.delete(record.id)
          return dropped ? rowsOf(dropped.record, dropped.first) : []
        }
        default: {
          if (!isLoneRecord(record)) return []
          const columns = columnsOf(entries, first)
          return [{ ...ofSession(), record, raw: '', t: record.t, linked: [], facts: new Set(), ...columns }]
        }
      }
    },
  }
}
