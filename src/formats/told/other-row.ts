import type { Told } from './told.js'

/** Row of a table for a record that is no message. Names are those of the columns. */
export interface OtherRow {
  readonly kind: 'noise' | 'stderr' | 'gap' | 'http'
  /** ISO 8601; undefined where the recording says no times. */
  readonly time?: string
  readonly offset_ms?: number
  readonly direction?: string
  readonly method?: string
  readonly subject?: string
  readonly conversation?: string
  readonly http_status?: number
  readonly payload: string
}

/** Undefined for records that no table has. */
export function otherRow({ record, us }: Extract<Told, { kind: 'other' }>): OtherRow | undefined {
  const times = (t: string): Pick<OtherRow, 'time' | 'offset_ms'> =>
    us === undefined ? {} : { time: t, offset_ms: us / 1000 }
  switch (record.type) {
    case 'noise':
      return { ...times(record.t), direction: record.direction, kind: 'noise', payload: record.text }
    case 'stderr':
      return { ...times(record.t), kind: 'stderr', payload: record.text }
    case 'gap':
      return { ...times(record.t), kind: 'gap', payload: `${record.lost} lost: ${record.why}` }
    case 'http':
      return {
        ...times(record.t),
        kind: 'http',
        method: record.method,
        subject: record.path,
        ...(record.conversation !== undefined && { conversation: record.conversation }),
        ...(record.status !== undefined && { http_status: record.status }),
        payload: record.body ?? record.why ?? '',
      }
    default:
      return undefined
  }
}
