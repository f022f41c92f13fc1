import type { Report, TapeRecord } from '../../model/index.js'
import type { Input } from '../format.js'
import { flatMapped } from '../iterate.js'
import { canLend, LentMessage } from './lent-message.js'
import { TraceScan } from './scan.js'

/** The records of a tape, most messages as `LentMessage`. */
export function readLent(
  { bytes, lends }: Pick<Input, 'bytes' | 'lends'>,
  report: Report,
): AsyncIterable<TapeRecord> {
  let records: TapeRecord[] = []
  const scan = new TraceScan(
    report,
    (chunk, line) => {
      if (!canLend(line)) return false
      records.push(new LentMessage(chunk, line, lends?.lines))
      return true
    },
    { borrowed: true, whole: true, nameless: true },
  )
  const take = ({ record }: { readonly record: TapeRecord }): void => void records.push(record)
  function taken(): TapeRecord[] {
    const all = records
    records = []
    return all
  }
  return flatMapped(
    bytes(),
    (chunk) => {
      scan.push(chunk, take, lends?.lines)
      return taken()
    },
    () => {
      scan.end(take)
      return taken()
    },
  )
}
