import { hasFailed, isUnanswered, type EntryTable, type Fold } from '../../model/index.js'

/**
 * Requests that failed: unanswered, refused, cancelled, dropped, or undelivered, and those whose task did not complete.
 *
 * @param most limit; the first ones are returned
 */
export function wrongCalls(
  { entries }: Fold,
  most: number,
): { readonly rows: Set<number>; readonly left: number } {
  const rows = new Set<number>()
  let left = 0
  for (let row = 0; row < entries.length; row += 1) {
    const request = entries.has(row, 'late') ? entries.peer(row) : isWrong(entries, row) ? row : -1
    if (request < 0 || rows.has(request)) continue
    if (rows.size < most) rows.add(request)
    else left += 1
  }
  return { rows, left }
}

function isWrong(entries: EntryTable, row: number): boolean {
  if (entries.kind(row) !== 'request') return false
  if (isUnanswered(entries, row)) return true
  if (
    (['cancelled', 'dropped', 'waiting', 'undelivered', 'duplicate'] as const).some((flag) =>
      entries.has(row, flag),
    )
  )
    return true
  const answer = entries.peer(row)
  return (
    answer >= 0 &&
    !entries.has(answer, 'repeated') &&
    (hasFailed(entries, answer) ||
      (['undelivered', 'taskOpen', 'taskCancelled'] as const).some((flag) => entries.has(answer, flag)))
  )
}

/** The request of a row: itself, the one it responds to, or the one it refers to. -1 for none. */
export function requestOf({ entries }: Fold, row: number): number {
  if (entries.kind(row) === 'request') return row
  const peer = entries.peer(row)
  return peer >= 0 ? peer : entries.linked(row)
}
