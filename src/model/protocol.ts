/**
 * The two eras of MCP: `legacy` opens a session with `initialize`, `modern` (from 2026-07-28) carries its
 * metadata in every request.
 */
export type Era = 'legacy' | 'modern'

/** Published protocol versions, oldest first. */
export const protocolVersions = [
  '2024-10-07',
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
] as const

/** The first version of the modern era. */
const firstModern = '2026-07-28'

/** Versions are dates, so an unknown later one still sorts correctly. */
export function eraOf(protocolVersion: string): Era {
  return protocolVersion >= firstModern ? 'modern' : 'legacy'
}

/** Methods of one era only; they show the era before a version is negotiated. */
const legacyMethods: ReadonlySet<string> = new Set([
  'initialize',
  'notifications/initialized',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/roots/list_changed',
  'tasks/list',
  'tasks/result',
  'notifications/elicitation/complete',
])
const modernMethods: ReadonlySet<string> = new Set([
  'server/discover',
  'subscriptions/listen',
  'notifications/subscriptions/acknowledged',
  'tasks/update',
])

/** The era of a method; undefined when both eras or neither have it. */
export function eraOfMethod(method: string): Era | undefined {
  if (legacyMethods.has(method)) return 'legacy'
  if (modernMethods.has(method)) return 'modern'
  return undefined
}
