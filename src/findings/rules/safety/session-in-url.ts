import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const sessionInQuery = /[?&](?:mcp-?)?session(?:_?id)?=/i

export const sessionInUrl: Rule = {
  info: {
    id: 'safety/session-in-url',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A session id stands in a URL.',
    help: 'Addresses are logged everywhere, and who has the id has the session. It belongs into the Mcp-Session-Id header.',
    source: sources.security,
    owasp: 'MCP07',
  },
  begin: ({ server }, say) => ({
    message(message) {
      const path = message.record.http?.path ?? ''
      if (server.transport === 'streamable-http' && sessionInQuery.test(path))
        say(message, { message: 'the address has the id of a session' })
    },
  }),
}
