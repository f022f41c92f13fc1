import { redactionMarker } from '../redaction/index.js'
import { findJsonValue, isFault } from '../wire/index.js'
import type { SetValue } from './live-values.js'
import type { Plan } from './plan.js'

/**
 * Values of `--set` for a place that was redacted in some message of the client are for redacted places only: the same
 * place of another message keeps what stands there.
 */
export async function narrowSets(plan: Plan, sets: readonly SetValue[]): Promise<readonly SetValue[]> {
  if (sets.length === 0 || plan.session?.redaction === 'none') return sets
  const narrow = new Set<SetValue>()
  for (const frame of plan.frames) {
    if (narrow.size === sets.length) break
    const record = await plan.read(frame.locator)
    if (!record.raw.includes(redactionMarker)) continue
    for (const { part } of frame.messages) {
      const { start, end } = record.parts[part]!
      const text = record.raw.slice(start, end)
      for (const set of sets) if (redactedPlacesOf(set, text).length > 0) narrow.add(set)
    }
  }
  return sets.map((set) => (narrow.has(set) ? { ...set, onlyRedacted: true } : set))
}

function redactedPlacesOf({ path }: SetValue, text: string): readonly unknown[] {
  const whole = findJsonValue(text)
  if (isFault(whole)) return []
  return path.find(text, whole).filter(({ start, end }) => text.slice(start, end).includes(redactionMarker))
}
