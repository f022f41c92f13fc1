import { formatDuration } from '../render/index.js'
import type { ExchangeComparison } from './comparison.js'

/** Counts requests that timed out, but took as long in the recording: the time-out is too short for them. */
export interface ShortTimeOuts {
  take(exchange: ExchangeComparison): void
  /** A note, if there were any. */
  notes(): readonly string[]
}

/** @param timeoutMs limit for one response */
export function createShortTimeOuts(timeoutMs: number): ShortTimeOuts {
  let count = 0
  let longestUs = 0
  return {
    take({ verdict, before }) {
      if (verdict !== 'timed out' || before?.latencyUs === undefined) return
      if (before.latencyUs < timeoutMs * 1000) return
      count += 1
      longestUs = Math.max(longestUs, before.latencyUs)
    },
    notes() {
      if (count === 0) return []
      const [what, most] =
        count === 1
          ? ['1 request timed out, but took', '']
          : [`${count} requests timed out, but took`, 'up to ']
      return [`${what} ${most}${formatDuration(longestUs)} in the recording: use a longer timeout`]
    },
  }
}
