import { onOneLine } from '../wire/index.js'
import type { ExchangeComparison } from './comparison.js'
import type { Difference } from './json-diff.js'
import { placeOf, toJsonPath } from './json-place.js'
import { suggestMatcher } from './matcher.js'
import type { OfferChange } from './offer-change.js'
import type { Varied } from './tolerance.js'

/** `tools/call search`, marked if the server sent the request; prefixed with the name of a saved call. */
export function titleOf({
  method,
  name,
  direction,
  call,
}: Pick<ExchangeComparison, 'method' | 'name' | 'direction' | 'call'>): string {
  const title = name === undefined ? method : `${method} ${name}`
  if (call) return `${call.name} (${title})`
  return direction === 'server_to_client' ? `${title} (sent by the server)` : title
}

/** A difference in one line. Not escaped for terminals: escape it on output. */
export function describeDifference(difference: Difference, longest = 120): string {
  const { kind, place } = difference
  // JSON inside a text may be formatted on many lines without meaning.
  const [before, after] = [difference.before ?? '', difference.after ?? ''].map(onOneLine) as [string, string]
  const path = toJsonPath(place).replace(/^\$\.?/, '') || 'the response'
  if (kind === 'added') return `+ ${path} ${shortened(after, 0, longest)}`
  if (kind === 'removed') return `- ${path} ${shortened(before, 0, longest)}`
  const at = firstDifference(before, after)
  return `~ ${path} ${shortened(before, at, longest / 2)} → ${shortened(after, at, longest / 2)}`
}

/** A generated value that differed, in one line: `timestamp: result.structuredContent.at "…" → "…"`. */
export function describeVaried({ kinds, at, before, after }: Varied, longest = 80): string {
  const what = describeDifference({ kind: 'changed', place: placeOf(at), before, after }, longest)
  return `${kinds.join(', ')}: ${what.replace(/^~ /, '')}`
}

function firstDifference(before: string, after: string): number {
  const length = Math.min(before.length, after.length)
  for (let i = 0; i < length; i += 1) if (before.charCodeAt(i) !== after.charCodeAt(i)) return i
  return length
}

/** An excerpt of at most `longest` characters, around `at`. */
function shortened(text: string, at: number, longest: number): string {
  if (text.length <= longest) return text
  const start = Math.max(0, Math.min(at - Math.floor(longest / 3), text.length - longest))
  const end = start + longest
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}

/** A command-line option that makes a difference no longer count; undefined if none fits. */
export function suggestRule({ kind, place, before, after }: Difference): string | undefined {
  if (kind !== 'changed' || before === undefined || after === undefined) return undefined
  const matcher = suggestMatcher(before, after)
  return matcher === undefined ? undefined : `--match '${toJsonPath(place)}=${matcher}'`
}

/** `tool echo: inputSchema: "city" required now`, without the impact. */
export function describeOffer({ kind, name, change, details }: OfferChange): string {
  const what = kind === 'server' ? name : `${kind} ${name}`
  return details.length > 0 ? `${what}: ${details.join('; ')}` : `${what} ${change}`
}

/** Lines about one differing exchange, without its title. */
export function detailsOf(exchange: ExchangeComparison): string[] {
  const lines: string[] = []
  const { before, after, verdict } = exchange
  if (verdict === 'error now' && after?.failure !== undefined) lines.push(after.failure)
  else if (verdict === 'fixed now' && before?.failure !== undefined) lines.push(`was ${before.failure}`)
  else lines.push(...exchange.differences.map((difference) => describeDifference(difference)))
  if (exchange.more > 0 && verdict === 'changed') lines.push(`and ${exchange.more} more differences`)
  const faults = exchange.schemaFaults.map((fault) => `schema: ${fault}`)
  const known = (exchange.knownFaults ?? []).map((fault) => `schema (not new): ${fault}`)
  return [...lines, ...faults, ...known, ...(exchange.notes ?? [])]
}
