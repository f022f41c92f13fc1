import type { OfferKind } from './offered-places.js'
import type { Impact } from './schema-change.js'

/** Something that a server offers otherwise than before. */
export interface OfferChange {
  /** `server` is what it says about itself when a conversation opens. */
  readonly kind: OfferKind | 'server'
  /** Name of the tool or prompt, URI of the resource, member of the opening. */
  readonly name: string
  readonly change: 'added' | 'removed' | 'changed'
  /** That of the worst detail. */
  readonly impact: Impact
  /** What changed in it: `description changed`, `inputSchema: "city" required now`. */
  readonly details: readonly string[]
}
