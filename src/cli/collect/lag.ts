import { setTimeout } from 'node:timers/promises'
import type { Backlog } from './source.js'

/** A source that takes longer to answer counts as unavailable. */
const answerMs = 2_000

/** The backlog of a source at this moment. */
export interface Lag {
  readonly segments: number
  /** Age of the oldest segment; 0 without any. */
  readonly ms: number
}

/**
 * Measures the lag of a source for each report. It grows while the source is unavailable: from the oldest segment of its last answer, or
 * else from that answer. The measurement never rejects.
 */
export function createLagMeter(source: { backlog(): Promise<Backlog> }, now = Date.now): () => Promise<Lag> {
  let last: Backlog = { segments: 0, oldestMs: undefined }
  let answeredMs = now()
  return async () => {
    const late = new AbortController()
    const clock = setTimeout(answerMs, undefined, { signal: late.signal }).catch(() => undefined)
    const answer = await Promise.race([source.backlog().catch(() => undefined), clock])
    late.abort()
    const nowMs = now()
    if (answer) {
      last = answer
      answeredMs = nowMs
    }
    return { segments: last.segments, ms: Math.max(0, nowMs - (last.oldestMs ?? answeredMs)) }
  }
}
