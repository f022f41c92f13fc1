import type { LiveConnection } from './live-connection.js'
import type { Plan } from './plan.js'
import { saysOfChange } from './planned-notices.js'

/** What the server said unasked before the recorded client went on. */
export interface NoticePicker {
  /** How long to wait, at most, for what is still to come before that row. */
  expect(beforeRow: number): number
  /** All of it came. */
  isHere(): boolean
  /** @param ms for how long it was waited for */
  waited(ms: number): void
}

/**
 * How many notifications of each method come counts, not what they say. One that does not come costs a time-out once; of
 * those that announce no change, all waiting together costs no more than that: a server may speak by the clock.
 */
export function createNoticePicker(
  plan: Plan,
  connection: string,
  live: LiveConnection,
  timeoutMs: number,
): NoticePicker {
  const wanted = new Map<string, number>()
  const leftMs = new Map<string, number>()
  /** Methods that are waited for now. */
  let awaited: readonly string[] = []
  let next = 0

  const left = (method: string): number => leftMs.get(method) ?? timeoutMs
  const isMissing = (method: string): boolean => live.notified(method) < (wanted.get(method) ?? 0)

  return {
    expect(beforeRow) {
      let notice = plan.notices.at(connection, next)
      while (notice && notice.row < beforeRow) {
        wanted.set(notice.method, (wanted.get(notice.method) ?? 0) + 1)
        next += 1
        notice = plan.notices.at(connection, next)
      }
      awaited = [...wanted.keys()].filter((method) => left(method) > 0 && isMissing(method))
      return Math.max(0, ...awaited.map(left))
    },
    isHere: () => !awaited.some(isMissing),
    waited(ms) {
      for (const method of awaited)
        if (isMissing(method) || !saysOfChange(method)) leftMs.set(method, Math.max(0, left(method) - ms))
    },
  }
}
