import type { Rule } from '../../finding.js'
import { textAt, type Json } from '../../json.js'
import { sources } from '../sources.js'
import { longestBody } from './oauth-request.js'

const metadataPath = /^\/\.well-known\/oauth-protected-resource(?:[/?]|$)/

export const resourceMetadata: Rule = {
  info: {
    id: 'safety/oauth-metadata',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A server’s metadata names another server as the resource.',
    help: 'A client would get a token for that other server. It must not use such metadata (RFC 9728, 3.3).',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin: ({ fold }, say) => ({
    record(record, row) {
      if (record.type !== 'http' || record.status !== 200 || !metadataPath.test(record.path) || row < 0)
        return
      const own = originOf(fold.sessions.at(-1)?.url ?? '')
      const named = originOf(resourceIn(record.body ?? ''))
      // The client received the recorder's address, which is on this machine.
      if (own === undefined || named === undefined || named === own || isLoopback(named)) return
      say(row, { message: `the resource is ${named}, not ${own}`, what: named })
    },
  }),
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}

function isLoopback(origin: string): boolean {
  return /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/.test(origin)
}

function resourceIn(body: string): string {
  if (body.length > longestBody) return ''
  try {
    return textAt(JSON.parse(body) as Json, 'resource') ?? ''
  } catch {
    return ''
  }
}
