import { computed } from '@preact/signals'
import { contentRanks } from './content-ranks.js'
import { askedMeanwhile, headOf, membersOf } from './exchange.js'
import { sliced } from './sliced.js'
import { sortedRows } from './row-order.js'
import { expanded, filterMatches, grouped, lane, order as sorting, range, table } from './state.js'

/** One line of the list: a row number, or `~row` for a row unfolded below its exchange. */
export type Item = number

export const isNested = (item: Item): boolean => item < 0
export const rowOf = (item: Item): number => (item < 0 ? ~item : item)

/** Rows between two pauses. */
const step = 4096

/** Rows that match lane, range and filter, with exchanges grouped if chosen; nothing unfolded. */
const base = sliced<Int32Array>(
  new Int32Array(0),
  () => [lane.value, range.value, filterMatches.value, grouped.value, sorting.value, contentRanks.value],
  function* () {
    const onlyLane = lane.peek()
    const between = range.peek()
    const matches = filterMatches.peek()
    const asExchanges = grouped.peek()
    const { order } = table
    const kept = new Int32Array(order.length)
    const heads = matches && asExchanges ? yield* headsOf(order, matches.has) : undefined
    let count = 0
    for (let i = 0; i < order.length; i += 1) {
      if (i % step === 0) yield
      const row = order[i]!
      if (onlyLane !== 'all' && table.lane(row) !== onlyLane) continue
      if (asExchanges && headOf(row) !== row) continue
      if (between && !isWithin(row, between)) continue
      if (heads) {
        if (heads[row] === 0) continue
      } else if (matches && !matches.has(row)) continue
      kept[count] = row
      count += 1
    }
    return yield* sortedRows(kept.subarray(0, count), sorting.peek())
  },
)

/** An exchange is shown if one of its messages matches. */
function* headsOf(order: Int32Array, has: (row: number) => boolean): Generator<void, Uint8Array> {
  const heads = new Uint8Array(order.length)
  for (let i = 0; i < order.length; i += 1) {
    if (i % step === 0) yield
    if (has(order[i]!)) heads[headOf(order[i]!)] = 1
  }
  return heads
}

function isWithin(row: number, [from, to]: readonly [number, number]): boolean {
  const at = table.at(row)
  if (at > to) return false
  if (at >= from) return true
  const answer = table.kind(row) === 'request' ? table.peer(row) : -1
  return answer >= 0 && table.at(answer) >= from
}

/** The list as shown. */
export const shown = computed<Int32Array>(() => {
  const rows = base.value
  const open = expanded.value
  if (open.size === 0 || !grouped.value) return rows
  const unfolded: { readonly at: number; readonly members: readonly number[] }[] = []
  let more = 0
  for (const head of open) {
    const at = head < table.length ? rows.indexOf(head) : -1
    if (at < 0) continue
    const members = [...membersOf(head), ...askedMeanwhile(head)].toSorted((a, b) => a - b)
    unfolded.push({ at, members })
    more += members.length
  }
  const items = new Int32Array(rows.length + more)
  let from = 0
  let to = 0
  for (const { at, members } of unfolded.toSorted((a, b) => a.at - b.at)) {
    items.set(rows.subarray(from, at + 1), to)
    to += at + 1 - from
    from = at + 1
    for (const member of members) {
      items[to] = ~member
      to += 1
    }
  }
  items.set(rows.subarray(from), to)
  return items
})

/** Index in the list of a row or its exchange; -1 if not shown. */
export function indexOfRow(row: number): number {
  const items = shown.value
  const exact = items.indexOf(row)
  if (exact >= 0) return exact
  const nested = items.indexOf(~row)
  return nested >= 0 ? nested : items.indexOf(headOf(row))
}
