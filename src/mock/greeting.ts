import { eraOf, protocolVersions, type Envelope } from '../model/index.js'
import type { Play } from './play.js'

/** Methods whose presence shows a capability. */
const shows: readonly (readonly [prefix: string, capability: string])[] = [
  ['tools/', 'tools'],
  ['prompts/', 'prompts'],
  ['resources/', 'resources'],
  ['completion/', 'completions'],
  ['logging/', 'logging'],
]
const changes: Readonly<Record<string, string | undefined>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
}

/**
 * The result for an `initialize` or `server/discover` that was not recorded: many recordings begin later, and some
 * clients use a separate process for it. It declares what the recording shows. Undefined for other methods, and for
 * an era that was not recorded.
 */
export function greetingFor(play: Play, { method, protocolVersion }: Envelope): string | undefined {
  const { seen } = play
  const capabilities: Record<string, object> = {}
  for (const [prefix, capability] of shows)
    if (play.calls.methods.some((known) => known.startsWith(prefix))) capabilities[capability] = {}
  for (const notice of seen.notices) {
    const capability = changes[notice]
    if (capability !== undefined) capabilities[capability] = { listChanged: true }
  }
  const serverInfo = seen.server ?? { name: 'recorded server', version: '' }
  if (method === 'server/discover' && play.modern) {
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions: seen.versions.filter((version) => eraOf(version) === 'modern'),
      capabilities,
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    })
  }
  if (method !== 'initialize' || !play.legacy) return undefined
  const known = protocolVersions.filter((version) => eraOf(version) === 'legacy')
  const asked = known.find((version) => version === protocolVersion)
  return JSON.stringify({ protocolVersion: asked ?? known.at(-1), capabilities, serverInfo })
}
