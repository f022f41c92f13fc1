import { computed } from '@preact/signals'
import { askedMeanwhile, headOf, membersOf } from './exchange.js'
import { expanded, filterMatches, grouped, lane, range, table, version } from './state.js'

/** One line of the list: a row number, or `~row` for a row that is unfolded below its exchange. */
export type Item = number

export const isNested = (item: Item): boolean => item < 0
export const rowOf = (item: Item): number => (item < 0 ? ~item : item)

/** Rows that pass lane, range and filter, exchanges as one row where asked; nothing unfolded. */
const base = computed<Int32Array>(() => {
  version.value
  const onlyLane = lane.value
  const between = range.value
  const matches = filterMatches.value
  const asExchanges = grouped.value
  const { order } = table
  const kept = new Int32Array(order.length)
  const heads = matches && asExchanges ? headsOf(order, matches.has) : undefined
  let count = 0
  for (const row of order) {
    if (onlyLane !== 'all' && table.lane(row) !== onlyLane) continue
    if (asExchanges && headOf(row) !== row) continue
    if (between && !isWithin(row, between)) continue
    if (heads) {
      if (heads[row] === 0) continue
    } else if (matches && !matches.has(row)) continue
    kept[count] = row
    count += 1
  }
  return kept.subarray(0, count)
})

/** An exchange is shown when one of its messages matches. */
function headsOf(order: Int32Array, has: (row: number) => boolean): Uint8Array {
  const heads = new Uint8Array(order.length)
  for (const row of order) if (has(row)) heads[headOf(row)] = 1
  return heads
}

function isWithin(row: number, [from, to]: readonly [number, number]): boolean {
  const at = table.at(row)
  if (at > to) return false
  if (at >= from) return true
  const answer = table.kind(row) === 'request' ? table.peer(row) : -1
  return answer >= 0 && table.at(answer) >= from
}

/** The list as it is shown. */
export const shown = computed<Int32Array>(() => {
  const rows = base.value
  const open = expanded.value
  if (open.size === 0 || !grouped.value) return rows
  const inserted = new Map<number, number[]>()
  let more = 0
  for (const head of open) {
    const members = [...membersOf(head), ...askedMeanwhile(head)].toSorted((a, b) => a - b)
    inserted.set(head, members)
    more += members.length
  }
  const items = new Int32Array(rows.length + more)
  let at = 0
  for (const row of rows) {
    items[at] = row
    at += 1
    for (const member of open.has(row) ? inserted.get(row)! : []) {
      items[at] = ~member
      at += 1
    }
  }
  return items.subarray(0, at)
})

/** Where a row is in the list, or where its exchange is; -1 when it is not shown. */
export function indexOfRow(row: number): number {
  const items = shown.value
  const exact = items.indexOf(row)
  if (exact >= 0) return exact
  const nested = items.indexOf(~row)
  return nested >= 0 ? nested : items.indexOf(headOf(row))
}
