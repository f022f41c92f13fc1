import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const tokenInQuery = /[?&](?:access_token|token|api[_-]?key|key|auth|authorization|secret|password)=/i

export const tokenInUrl: Rule = {
  info: {
    id: 'safety/token-in-url',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A request has a token in its URL.',
    help: 'URLs are logged everywhere. A token belongs in the Authorization header.',
    source: sources.authorization,
    owasp: 'MCP01',
  },
  begin: (_, say) => ({
    message(message) {
      const path = message.record.http?.path
      const name = path === undefined ? undefined : tokenInQuery.exec(path)?.[0].slice(1, -1)
      if (name !== undefined) say(message, { message: `the URL has a parameter ${name}`, what: name })
    },
    record(record, row) {
      if (record.type !== 'http') return
      const name = tokenInQuery.exec(record.path)?.[0].slice(1, -1)
      if (name !== undefined && row >= 0) say(row, { message: `the URL has a parameter ${name}`, what: name })
    },
  }),
}
