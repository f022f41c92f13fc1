import { isFrameRecord, type EntryKind, type TapeRecord } from '../../src/model/index.js'
import { rowMatter } from '../../src/render/index.js'

/** What the columns of a row say; not escaped. */
export interface RowTexts {
  readonly method: string
  readonly subject: string
  /** Beside its method: the error, the line, what is missing. */
  readonly note: string
  readonly id: string
}

export function textsOf(record: TapeRecord, part: number, kind: EntryKind): RowTexts {
  const message = isFrameRecord(record) ? record.parts[part] : undefined
  const { method, subject, said, why } = rowMatter(record, message, kind)
  return { method, subject, note: noteOf(record, said, why), id: message?.envelope.id ?? '' }
}

function noteOf(record: TapeRecord, said: string, why: string): string {
  // Of a line of the file that is broken, there is only that.
  if (record.type === 'gap') return record.t === '' ? why : `${said}: ${why}`
  return why === '' ? said : `${said}, ${why}`
}
