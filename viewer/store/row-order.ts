import { contentRanks } from './content-ranks.js'
import { latencyOf, statusOf, type Status } from './exchange.js'
import { grouped, table, type SortKey } from './state.js'

const step = 4096

/** Most severe last, so that they come first in descending order. */
const gravity: Readonly<Record<Status, number>> = {
  none: 0,
  ok: 1,
  own: 1,
  cancelled: 2,
  waiting: 3,
  held: 4,
  dropped: 5,
  bad: 6,
  'tool-error': 7,
  error: 8,
}

/** Rows in an order other than time, in steps; the sort is stable. */
export function* sortedRows(
  rows: Int32Array,
  { key, down }: { readonly key: SortKey; readonly down: boolean },
): Generator<void, Int32Array> {
  if (key === 'time') return down ? rows.toReversed() : rows
  const keyOf =
    key === 'name' ? nameRank() : key === 'content' ? contentRank() : (row: number) => numberOf(row, key)
  const keys = new Float64Array(rows.length)
  for (let i = 0; i < rows.length; i += 1) {
    if (i % step === 0) yield
    keys[i] = keyOf(rows[i]!) * (down ? -1 : 1)
  }
  // A merge sort, since it can pause between steps.
  let from = Uint32Array.from({ length: rows.length }, (_, i) => i)
  let to = new Uint32Array(rows.length)
  for (let width = 1; width < rows.length; width *= 2) {
    let sinceRest = 0
    for (let left = 0; left < rows.length; left += 2 * width) {
      const middle = Math.min(left + width, rows.length)
      const right = Math.min(left + 2 * width, rows.length)
      let a = left
      let b = middle
      for (let at = left; at < right; at += 1) {
        const takesLeft = a < middle && (b >= right || keys[from[a]!]! <= keys[from[b]!]!)
        to[at] = takesLeft ? from[a++]! : from[b++]!
        sinceRest += 1
        if (sinceRest % (4 * step) === 0) yield
      }
    }
    ;[from, to] = [to, from]
  }
  return Int32Array.from(from, (i) => rows[i]!)
}

function numberOf(row: number, key: 'status' | 'latency' | 'size'): number {
  if (key === 'status') return gravity[statusOf(row)]
  if (key === 'latency') return latencyOf(row) ?? -1
  const answer = grouped.peek() && table.kind(row) === 'request' ? table.peer(row) : -1
  return table.size(row) + (answer >= 0 ? table.size(answer) : 0)
}

/** Rows not ranked by the worker yet come last. */
function contentRank(): (row: number) => number {
  const ranks = contentRanks.peek()
  return (row) => ranks[row] ?? ranks.length
}

/** Alphabetical ranks of methods and subjects, by word. */
function nameRank(): (row: number) => number {
  const used = new Set<number>()
  for (let row = 0; row < table.length; row += 1) used.add(table.methodWord(row)).add(table.subjectWord(row))
  const words = [...used].map((word) => ({ word, text: table.word(word) }))
  words.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  const rank = new Map(words.map(({ word }, i) => [word, i]))
  return (row) => rank.get(table.methodWord(row))! * words.length + rank.get(table.subjectWord(row))!
}
