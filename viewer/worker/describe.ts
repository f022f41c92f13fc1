import type { HeldRecord, MessageRecord, TapeRecord } from '../../src/model/index.js'

/** What a row says beside its method: the error, the noise, what is missing. */
export function noteOf(record: TapeRecord, part: number): string {
  switch (record.type) {
    case 'message':
    case 'held': {
      const envelope = record.parts[part]?.envelope
      if (envelope?.kind === 'error')
        return `${envelope.errorCode ?? ''} ${envelope.errorMessage ?? ''}`.trim()
      if (envelope?.kind === 'invalid') return envelope.problem ?? ''
      return envelope?.resultType !== undefined && envelope.resultType !== 'complete'
        ? envelope.resultType
        : ''
    }
    case 'noise':
    case 'stderr':
    case 'note':
      return record.text
    case 'http':
      return `${record.status ?? 'no response'}${record.sse ? ` event ${record.sse.event ?? ''}` : ''}${record.why === undefined ? '' : `, ${record.why}`}`
    case 'gap':
      return record.t === '' ? record.why : `${record.lost} lost: ${record.why}`
    default:
      return ''
  }
}

export function methodOf(record: TapeRecord, part: number): string {
  if (isFrame(record)) return record.parts[part]?.envelope.method ?? ''
  return record.type === 'http' ? record.method : ''
}

export function subjectOf(record: TapeRecord, part: number): string {
  if (isFrame(record)) return record.parts[part]?.envelope.subject ?? ''
  return record.type === 'http' ? record.path : ''
}

export function idOf(record: TapeRecord, part: number): string {
  return isFrame(record) ? (record.parts[part]?.envelope.id ?? '') : ''
}

/** A message that was passed on, or one that waits or was dropped. */
export function isFrame(record: TapeRecord): record is MessageRecord | HeldRecord {
  return record.type === 'message' || record.type === 'held'
}
