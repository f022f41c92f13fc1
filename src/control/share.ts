/**
 * For each millisecond that writing to all who are attached takes, so many are left to what passes: reading the tape,
 * collecting its pieces, and the processor that those who read it want for themselves come on top. Some 20 MB a second
 * are left to each of three.
 */
const restFactor = 100
/** Nothing passed for so long: there is nobody to give way to. */
const quietMs = 200
/** A long write, or a collection of garbage in it, need not be paid for at once. */
const mostOwedMs = 250

/** The share of this thread that all who are attached have together: a small one while messages pass. */
export interface Share {
  /** Something passed. */
  passed(): void
  spent(ms: number): void
  /** Milliseconds until something may be spent again. */
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
