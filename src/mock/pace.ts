/** The share of recorded waiting that is repeated: 0 none, 1 all, 2 half of it. */
export interface Pace {
  /** Multiple of the recorded speed; 0 for no waiting. */
  readonly factor: number
}

/** Timers accept no longer waits. */
const longestMs = 2 ** 31 - 1

/** `fast`, `recorded`, or `2x`; undefined for anything else. */
export function parsePace(text: string): Pace | undefined {
  if (text === 'fast') return { factor: 0 }
  if (text === 'recorded') return { factor: 1 }
  const factor = Number(/^(\d{1,6}(?:\.\d{1,6})?)x$/.exec(text)?.[1])
  return factor > 0 ? { factor } : undefined
}

/** Milliseconds to wait for recorded microseconds. */
export function waitMs({ factor }: Pace, us: number): number {
  return factor === 0 || !(us > 0) ? 0 : Math.min(longestMs, us / 1000 / factor)
}

/** Resolves after the time, or as soon as `signal` is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
