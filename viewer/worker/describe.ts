import { isFrameRecord, type EntryKind, type TapeRecord } from '../../src/model/index.js'
import { rowMatter } from '../../src/render/index.js'

/** The texts of a row's columns; not escaped. */
export interface RowTexts {
  readonly method: string
  readonly subject: string
  /** Further text: the error, the line, the size of a gap. */
  readonly note: string
  readonly id: string
}

export function textsOf(record: TapeRecord, part: number, kind: EntryKind): RowTexts {
  const message = isFrameRecord(record) ? record.parts[part] : undefined
  const { method, subject, said, why } = rowMatter(record, message, kind)
  return { method, subject, note: noteOf(record, said, why), id: message?.envelope.id ?? '' }
}

function noteOf(record: TapeRecord, said: string, why: string): string {
  // A broken line of the file has only a reason.
  if (record.type === 'gap') return record.t === '' ? why : `${said}: ${why}`
  return why === '' ? said : `${said}, ${why}`
}
