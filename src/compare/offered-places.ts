import { elementsOf, JsonObject, kindAt } from '../wire/index.js'
import type { AnswerText } from './answer-text.js'

/** Kinds of offers, by the listing request. */
export type OfferKind = 'tool' | 'prompt' | 'resource' | 'template'

/** A list of offers: the result member with the list, and the member with each name. */
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

/** A server's self-description when a conversation opens. */
export const openingMembers = [
  'protocolVersion',
  'supportedVersions',
  'capabilities',
  'serverInfo',
  'instructions',
] as const

/**
 * JSON Pointers to parts of two responses that are compared as offers. This covers a list if both sides name every
 * item once; how it is paginated then does not matter.
 */
export function offeredPlaces(method: string, before: AnswerText, after: AnswerText): readonly string[] {
  const list = offerLists.get(method)
  if (list) {
    const isCovered = namesEachOnce(before, list) && namesEachOnce(after, list)
    return isCovered ? [`/result/${list.member}`, '/result/nextCursor'] : []
  }
  if (method !== 'initialize' && method !== 'server/discover') return []
  return openingMembers.map((member) => `/result/${member}`)
}

/** A redacted value is not a name. */
function namesEachOnce({ text: answer, redacted = [] }: AnswerText, { member, name }: OfferList): boolean {
  const list = JsonObject.in(answer)?.object('result')?.at(member)
  if (!list || kindAt(list.text, list.start) !== 'array') return false
  const names = new Set<string>()
  const hidden = new Set(redacted)
  for (const [i, { start }] of elementsOf(list.text, list.start).entries()) {
    if (kindAt(list.text, start) !== 'object') return false
    if (hidden.has(`/result/${member}/${i}/${name}`)) continue
    const said = new JsonObject(list.text, start).string(name)
    if (said === undefined || names.has(said)) return false
    names.add(said)
  }
  return true
}
