import { createVarying, type VariedBetween } from '../compare/index.js'
import type { Finished } from './ordered-outcomes.js'
import type { Plan } from './plan.js'
import type { PlannedMessage } from './planned-frames.js'

/** The age of the run, and the values it has made anew so far. */
export interface RunClock {
  varyingAt(plan: Plan, message: PlannedMessage, finished: Finished): VariedBetween
}

export function createRunClock(): RunClock {
  const began = performance.now()
  const varying = createVarying()
  return {
    varyingAt({ index }, { row, peer }, { durationUs }) {
      const live = {
        atMs: Date.now(),
        ageMs: performance.now() - began,
        ...(durationUs !== undefined && { latencyMs: durationUs / 1_000 }),
        uses: () => 'unknown' as const,
      }
      return varying.between(index.runAt(peer < 0 ? row : peer), live)
    },
  }
}
