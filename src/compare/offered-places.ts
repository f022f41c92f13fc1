/** What a server offers, by the request that lists it. */
export type OfferKind = 'tool' | 'prompt' | 'resource' | 'template'

/** A list of things on offer: the member of the result that holds it, and the member that names each. */
export interface OfferList {
  readonly kind: OfferKind
  readonly member: string
  readonly name: string
}

export const offerLists: ReadonlyMap<string, OfferList> = new Map([
  ['tools/list', { kind: 'tool', member: 'tools', name: 'name' }],
  ['prompts/list', { kind: 'prompt', member: 'prompts', name: 'name' }],
  ['resources/list', { kind: 'resource', member: 'resources', name: 'uri' }],
  ['resources/templates/list', { kind: 'template', member: 'resourceTemplates', name: 'uriTemplate' }],
])

/** What a server says about itself when a conversation opens. */
export const openingMembers = [
  'protocolVersion',
  'supportedVersions',
  'capabilities',
  'serverInfo',
  'instructions',
] as const

/**
 * JSON Pointers into an answer, to what is compared as an offer and not as an answer. Where a list is cut into
 * pages is nobody's business either.
 */
export function offeredPlaces(method: string): readonly string[] {
  const list = offerLists.get(method)
  if (list) return [`/result/${list.member}`, '/result/nextCursor']
  if (method !== 'initialize' && method !== 'server/discover') return []
  return openingMembers.map((member) => `/result/${member}`)
}
