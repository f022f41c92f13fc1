import type { JsonObject } from '../wire/index.js'
import { canonicalJson, isTooDeep } from './canonical-json.js'
import { alikeWhereHidden, pointersBelow } from './hidden-values.js'
import type { ListingPlace } from './listing-place.js'
import { openingMembers } from './offered-places.js'
import type { OfferVersions } from './offer-change.js'
import { worstOf, type Impact, type SchemaChange } from './schema-change.js'

/** A server's self-description when a conversation opens. */
export interface Opening {
  /** Equal for openings with equal content. */
  readonly key: string
  /** Exact text of its members. */
  readonly members: ReadonlyMap<string, string>
  /** JSON Pointers to redacted values in the result. */
  readonly redacted: readonly string[]
}

/** All openings of a session. Repeated openings are stored once. */
export interface Openings {
  take(result: JsonObject, at: ListingPlace | undefined): void
  /** The most recent one. */
  last(): Opening | undefined
  /** By the request it responds to. */
  get(request: number): Opening | undefined
  all(): Iterable<readonly [request: number, opening: Opening]>
}

/** Storage limit, in characters of distinct openings. Beyond it, only the last one is known. */
const mostKept = 1 << 20

export function createOpenings(): Openings {
  const known = new Map<string, Opening>()
  const byRequest = new Map<number, Opening>()
  let last: Opening | undefined
  let kept = 0
  return {
    take(result, at) {
      const members = new Map<string, string>()
      for (const name of openingMembers) {
        const text = result.raw(name)
        if (text !== undefined) members.set(name, text)
      }
      const redacted = pointersBelow(at?.redacted, '/result')
      const key = JSON.stringify([[...members], redacted])
      const opening = known.get(key) ?? { key, members, redacted }
      last = opening
      if (!at) return
      if (!known.has(key)) {
        if (kept + key.length > mostKept) return
        kept += key.length
        known.set(key, opening)
      }
      byRequest.set(at.request, opening)
    },
    last: () => last,
    get: (request) => byRequest.get(request),
    all: () => byRequest,
  }
}

/**
 * Ignores the order in which several clients connect. Openings that both sides have are removed; the others are paired
 * by negotiated version, then by order.
 */
export function inAnyOrder(pairs: readonly (readonly [Opening, Opening])[]): [Opening, Opening][] {
  const free = new Map<string, number>()
  for (const [, { key }] of pairs) free.set(key, (free.get(key) ?? 0) + 1)
  const taken = new Map<string, number>()
  const isTaken = (counts: Map<string, number>, { key }: Opening): boolean => {
    const count = counts.get(key) ?? 0
    if (count > 0) counts.set(key, count - 1)
    return count > 0
  }
  const old = pairs.flatMap(([one]) => {
    if (!isTaken(free, one)) return [one]
    taken.set(one.key, (taken.get(one.key) ?? 0) + 1)
    return []
  })
  const now = byVersion(pairs.flatMap(([, one]) => (isTaken(taken, one) ? [] : [one])))
  return byVersion(old).map((one, i) => [one, now[i]!])
}

function byVersion(openings: readonly Opening[]): Opening[] {
  const version = ({ members }: Opening): string => members.get('protocolVersion') ?? ''
  return openings.toSorted((a, b) => (version(a) < version(b) ? -1 : version(a) > version(b) ? 1 : 0))
}

export function compareOpenings(before: Opening, after: Opening): OfferVersions[] {
  const found: OfferVersions[] = []
  for (const name of openingMembers) {
    const [old, now] = textsOf(name, before, after)
    if (
      old === now ||
      (old !== undefined && now !== undefined && canonicalJson(old, 0) === canonicalJson(now, 0))
    )
      continue
    const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    const details = name === 'capabilities' ? capabilityChanges(old, now) : plainDetails(old, now)
    const plain: Impact =
      name === 'serverInfo'
        ? 'note'
        : name === 'protocolVersion'
          ? 'breaking'
          : // Many clients add them to the model's prompt.
            name === 'instructions'
            ? 'review'
            : 'compatible'
    const impact = name === 'capabilities' ? worstOf(details) : plain
    found.push({
      change: { kind: 'server', name, change, impact, details: details.map(({ text }) => text) },
      ...(old !== undefined && { before: old }),
      ...(now !== undefined && { after: now }),
    })
  }
  return found
}

function textsOf(
  name: string,
  before: Opening,
  after: Opening,
): readonly [before: string | undefined, after: string | undefined] {
  const [old, now] = [before, after].map(({ members, redacted }) => {
    const text = members.get(name)
    return text === undefined ? undefined : { text, redacted: pointersBelow(redacted, `/${name}`) }
  })
  return old && now ? alikeWhereHidden(old, now) : [old?.text, now?.text]
}

function capabilityChanges(before: string | undefined, after: string | undefined): SchemaChange[] {
  const paths = (text: string | undefined): Map<string, string> => {
    const found = new Map<string, string>()
    const visit = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return
      for (const [name, inner] of Object.entries(value)) {
        const path = at === '' ? name : `${at}.${name}`
        found.set(path, typeof inner === 'object' ? '' : JSON.stringify(inner))
        visit(inner, path)
      }
    }
    if (text !== undefined && !isTooDeep(text)) visit(JSON.parse(text), '')
    return found
  }
  const [old, now] = [paths(before), paths(after)]
  const changes: SchemaChange[] = []
  for (const [path, value] of old) {
    const other = now.get(path)
    if (other === undefined) changes.push({ impact: 'breaking', text: `${path} removed` })
    else if (other !== value)
      changes.push({
        impact: other === 'true' ? 'compatible' : 'breaking',
        text: `${path} ${value} → ${other}`,
      })
  }
  for (const path of now.keys())
    if (!old.has(path)) changes.push({ impact: 'compatible', text: `${path} added` })
  return changes
}

const longestDetail = 120

function plainDetails(before: string | undefined, after: string | undefined): SchemaChange[] {
  const text = `${before ?? 'none'} → ${after ?? 'none'}`
  return text.length <= longestDetail ? [{ impact: 'compatible', text }] : []
}
