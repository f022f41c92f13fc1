import { offersIn, type Offer } from '../../server-state.js'

/** A schema of a tool and its place, once for each text: servers list their tools again and again. */
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
