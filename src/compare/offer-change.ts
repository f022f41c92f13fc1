import type { OfferKind } from './offered-places.js'
import type { Impact } from './schema-change.js'

/** A change in what a server offers. */
export interface OfferChange {
  /** `server` is the server's self-description when a conversation opens. */
  readonly kind: OfferKind | 'server'
  /** Name of the tool or prompt, URI of the resource, or member of the opening. */
  readonly name: string
  readonly change: 'added' | 'removed' | 'changed'
  /** The impact of the worst detail. */
  readonly impact: Impact
  /** The changes: `description changed`, `inputSchema: "city" required now`. */
  readonly details: readonly string[]
}

/** A change with the exact JSON of both versions; one is absent if it was added or removed. */
export interface OfferVersions {
  readonly change: OfferChange
  readonly before?: string
  readonly after?: string
}
