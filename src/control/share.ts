/**
 * Milliseconds left to traffic for each millisecond spent writing to attached programs. Reading the tape, garbage
 * collection, and the readers' own processor time come on top. Three readers still get some 20 MB a second each.
 */
const restFactor = 100
/** After this long without a message, there is no traffic to give way to. */
const quietMs = 200
/** Cap on the wait: a long write, perhaps with a garbage collection in it, is not charged in full. */
const mostOwedMs = 250

/** The part of this thread that attached programs share; small while messages pass. */
export interface Share {
  /** A message passed. */
  passed(): void
  spent(ms: number): void
  /** Milliseconds until the next write is allowed. */
  readonly waitMs: number
}

export function createShare(): Share {
  let freeAtMs = 0
  let passedAtMs = -Infinity

  return {
    passed() {
      passedAtMs = performance.now()
    },
    spent(ms) {
      const now = performance.now()
      freeAtMs = Math.min(now + mostOwedMs, Math.max(now, freeAtMs) + ms * restFactor)
    },
    get waitMs() {
      const now = performance.now()
      return now - passedAtMs > quietMs ? 0 : Math.max(0, freeAtMs - now)
    },
  }
}
