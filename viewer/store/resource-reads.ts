import { table } from './state.js'

/** The worker cuts words at this length. */
const longestWord = 200

/** The next request on this lane from a row on that reads a resource, else the previous one; -1 for none. */
export function readOf(uri: string, from: number): number {
  if (from < 0 || from >= table.length || uri.length > longestWord) return -1
  const subject = table.wordNumber(uri)
  const method = table.wordNumber('resources/read')
  if (subject < 0 || method < 0) return -1
  const lane = table.lane(from)
  let before = -1
  for (let row = 0; row < table.length; row += 1) {
    if (table.subjectWord(row) !== subject || table.methodWord(row) !== method) continue
    if (table.lane(row) !== lane || table.kind(row) !== 'request') continue
    if (row >= from) return row
    before = row
  }
  return before
}
