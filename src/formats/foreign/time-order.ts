import type { Report, TapeRecord } from '../../model/index.js'
import type { Timed } from './exchange.js'

/** Sorts records by time, for formats that store a response together with its request. */
export interface TimeOrder {
  /** @param size characters of memory that it occupies, to limit the waiting records */
  add(timed: Timed, size: number): void
  /**
   * The records up to this time, in order; when too many wait, the earliest ones too.
   *
   * @param place for records of exactly this time: only lower numbers
   */
  until(ms: number, place?: number): Generator<TapeRecord>
  /** Number of records that arrived after a later one had been returned, because too many waited. */
  readonly misplaced: number
}

/** Maximum number of waiting characters. */
const most = 32 * 1024 * 1024
/** Memory of a record besides its text, in characters. */
const recordSize = 200

interface OrderKey {
  readonly ms: number
  readonly place: number
  /** Order: by time, then by place, then by arrival. */
  readonly number: number
}

interface Waiting extends OrderKey {
  readonly record: TapeRecord
  readonly size: number
}

export function createTimeOrder(): TimeOrder {
  /** A heap: the element at `i` precedes those at `2 i + 1` and `2 i + 2`. */
  const waiting: Waiting[] = []
  let held = 0
  let number = 0
  let misplaced = 0
  /** The last record that was returned early because too many waited. */
  let hasty: OrderKey | undefined

  function rise(one: Waiting): void {
    let at = waiting.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(one, waiting[above]!)) break
      waiting[at] = waiting[above]!
      at = above
    }
    waiting[at] = one
  }

  function takeFirst(): Waiting {
    const first = waiting[0]!
    const last = waiting.pop()!
    if (waiting.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= waiting.length) break
      if (below + 1 < waiting.length && isBefore(waiting[below + 1]!, waiting[below]!)) below += 1
      if (!isBefore(waiting[below]!, last)) break
      waiting[at] = waiting[below]!
      at = below
    }
    waiting[at] = last
    return first
  }

  return {
    add({ ms: said, place = -1, record }, size) {
      const one = {
        ms: Number.isNaN(said) ? 0 : said,
        place,
        number: number++,
        record,
        size: size + recordSize,
      }
      if (hasty && isBefore(one, hasty)) misplaced += 1
      rise(one)
      held += one.size
    },
    *until(ms, place = Infinity) {
      const limit = { ms, place, number: -1 }
      while (waiting.length > 0) {
        const isDue = isBefore(waiting[0]!, limit)
        if (!isDue && held <= most) return
        const first = takeFirst()
        held -= first.size
        if (!isDue) hasty = first
        yield first.record
      }
    },
    get misplaced() {
      return misplaced
    },
  }
}

/** Reports records out of time order, if any. */
export function tellMisplaced({ misplaced }: TimeOrder, report: Report): void {
  if (misplaced === 0) return
  const message = `${misplaced} of the records are not in time order: the sort buffer was full`
  report({ severity: 'warning', code: 'misplaced', message })
}

function isBefore(one: OrderKey, other: OrderKey): boolean {
  if (one.ms !== other.ms) return one.ms < other.ms
  return one.place === other.place ? one.number < other.number : one.place < other.place
}
