import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const sessionInQuery = /[?&](?:mcp-?)?session(?:_?id)?=/i

export const sessionInUrl: Rule = {
  info: {
    id: 'safety/session-in-url',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A URL contains a session id.',
    help: 'URLs are logged everywhere, and anyone with the id can use the session. It belongs in the Mcp-Session-Id header.',
    source: sources.security,
    owasp: 'MCP07',
  },
  begin: ({ server }, say) => ({
    message(message) {
      const path = message.record.http?.path ?? ''
      if (server.transport === 'streamable-http' && sessionInQuery.test(path))
        say(message, { message: 'the URL contains a session id' })
    },
  }),
}
