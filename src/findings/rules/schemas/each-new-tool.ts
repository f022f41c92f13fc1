import type { Rule, Say } from '../../finding.js'
import { offersIn, type Offer } from '../../server-state.js'

/** Calls `look` once per text of a tool's schema: servers list their tools repeatedly. */
export function eachNewTool(look: (tool: Offer, row: number, say: Say) => void): Rule['begin'] {
  return (_, say) => {
    const seen = new Map<string, string>()
    return {
      message(message) {
        for (const offer of offersIn(message)) {
          if (offer.kind !== 'tool') continue
          const text = JSON.stringify(offer.value)
          if (seen.get(offer.name) === text) continue
          if (seen.size < 20_000) seen.set(offer.name, text)
          look(offer, message.row, say)
        }
      },
    }
  }
}
