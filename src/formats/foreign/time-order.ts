import type { TapeRecord } from '../../model/index.js'

/** Records that wait for their moment: of formats that give an answer together with its request. */
export interface TimeOrder {
  /** @param size characters, to bound what waits */
  add(ms: number, record: TapeRecord, size: number): void
  /** Those whose moment has come, in order; when too much waits, the first ones too. */
  until(ms: number): Generator<TapeRecord>
}

/** Characters that may wait. */
const most = 32 * 1024 * 1024

export function createTimeOrder(): TimeOrder {
  /** By time, then as they came. */
  const waiting: { ms: number; record: TapeRecord; size: number }[] = []
  let held = 0
  return {
    add(ms, record, size) {
      let at = waiting.length
      while (at > 0 && waiting[at - 1]!.ms > ms) at -= 1
      waiting.splice(at, 0, { ms, record, size })
      held += size
    },
    *until(ms) {
      let count = 0
      while (count < waiting.length && (waiting[count]!.ms <= ms || held > most)) {
        held -= waiting[count]!.size
        count += 1
      }
      for (const { record } of waiting.splice(0, count)) yield record
    },
  }
}
