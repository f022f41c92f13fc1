import { offersIn, type Offer } from '../../server-state.js'

/** Calls `look` once per text of a tool's schema: servers list their tools repeatedly. */
export function eachNewTool(
  look: (tool: Offer, row: number) => void,
): (message: Parameters<typeof offersIn>[0]) => void {
  const seen = new Map<string, string>()
  return (message) => {
    for (const offer of offersIn(message)) {
      if (offer.kind !== 'tool') continue
      const text = JSON.stringify(offer.value)
      if (seen.get(offer.name) === text) continue
      if (seen.size < 20_000) seen.set(offer.name, text)
      look(offer, message.row)
    }
  }
}
