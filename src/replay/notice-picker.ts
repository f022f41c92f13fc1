import type { LiveConnection } from './live-connection.js'
import type { Plan } from './plan.js'
import { saysOfChange } from './planned-notices.js'

/** Notifications that the server sent unasked before the recorded client continued. */
export interface NoticePicker {
  /** The longest wait for notifications still due before that row. */
  expect(beforeRow: number): number
  /** All awaited notifications arrived. */
  isHere(): boolean
  /** @param ms how long the wait took */
  waited(ms: number): void
}

/**
 * Counts notifications by method; their content does not matter. A missing one costs one time-out in total. For a
 * method that announces no change, all waits together cost one time-out at most: a server may send by the clock.
 */
export function createNoticePicker(
  plan: Plan,
  connection: string,
  live: LiveConnection,
  timeoutMs: number,
): NoticePicker {
  const wanted = new Map<string, number>()
  const leftMs = new Map<string, number>()
  /** Methods awaited now. */
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
