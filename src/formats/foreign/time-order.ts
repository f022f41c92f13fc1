import type { TapeRecord } from '../../model/index.js'
import type { Timed } from './exchange.js'

/** Records that wait for their moment: of formats that give an answer together with its request. */
export interface TimeOrder {
  /** @param size characters, to bound what waits */
  add(timed: Timed, size: number): void
  /**
   * Those whose moment has come, in order; when too much waits, the first ones too.
   *
   * @param place of those of that very moment, only what is before this number
   */
  until(ms: number, place?: number): Generator<TapeRecord>
}

/** Characters that may wait. */
const most = 32 * 1024 * 1024

export function createTimeOrder(): TimeOrder {
  /** By time, then by place, then as they came. */
  const waiting: { ms: number; place: number; record: TapeRecord; size: number }[] = []
  let held = 0
  return {
    add({ ms: said, place = -1, record }, size) {
      const ms = Number.isNaN(said) ? 0 : said
      let at = waiting.length
      while (at > 0 && isAfter(waiting[at - 1]!, ms, place)) at -= 1
      waiting.splice(at, 0, { ms, place, record, size })
      held += size
    },
    *until(ms, place = Infinity) {
      let count = 0
      while (count < waiting.length && (isBefore(waiting[count]!, ms, place) || held > most)) {
        held -= waiting[count]!.size
        count += 1
      }
      for (const { record } of waiting.splice(0, count)) yield record
    },
  }
}

interface Moment {
  readonly ms: number
  readonly place: number
}

function isAfter(one: Moment, ms: number, place: number): boolean {
  return one.ms > ms || (one.ms === ms && one.place > place)
}

function isBefore(one: Moment, ms: number, place: number): boolean {
  return one.ms < ms || (one.ms === ms && one.place < place)
}
