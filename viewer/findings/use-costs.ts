import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { reader, tellFailure } from '../store/actions.js'
import { filterMatches, lane, range, reading, version } from '../store/state.js'
import type { CostList } from '../worker/protocol.js'

/**
 * The costs in what the page shows; undefined until they are known.
 *
 * @param only the recordings to count @default those that the page shows
 */
export function useCosts(only = lane.value): CostList | undefined {
  const costs = useSignal<CostList | undefined>(undefined)
  const matches = filterMatches.value
  const between = range.value
  const isReading = reading.value
  useEffect(() => {
    if (isReading) return
    let gone = false
    reader()
      .call<CostList>('costs', [only, between])
      .then((found) => {
        if (!gone) costs.value = found
      })
      .catch(tellFailure)
    return () => {
      gone = true
    }
  }, [isReading, only, between, matches?.text, matches?.count, matches?.done, Math.floor(version.value / 40)])
  return costs.value
}
