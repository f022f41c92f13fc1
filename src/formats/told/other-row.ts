import { isLoneRecord, loneFacts, type LoneKind } from '../../model/index.js'
import type { Told } from './told.js'

/** Table row of a record without messages. Members are named like the columns. */
export interface OtherRow {
  readonly kind: LoneKind
  /** ISO 8601; undefined where the recording has no times. */
  readonly time?: string
  readonly offset_ms?: number
  readonly direction?: string
  readonly method?: string
  readonly subject?: string
  readonly conversation?: string
  readonly http_status?: number
  readonly payload: string
}

/** Undefined for records that are omitted from tables. */
export function otherRow({ record, us }: Extract<Told, { kind: 'other' }>): OtherRow | undefined {
  if (!isLoneRecord(record)) return undefined
  const { text, summary } = loneFacts(record)
  const row: OtherRow = {
    ...(us !== undefined && { time: record.t, offset_ms: us / 1000 }),
    kind: record.type,
    payload: text ?? summary,
  }
  if (record.type === 'noise') return { ...row, direction: record.direction }
  if (record.type !== 'http') return row
  const { method, path, conversation, status } = record
  return {
    ...row,
    method,
    subject: path,
    ...(conversation !== undefined && { conversation }),
    ...(status !== undefined && { http_status: status }),
  }
}
