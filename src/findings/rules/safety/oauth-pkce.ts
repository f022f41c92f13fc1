import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'
import { oauthRequest } from './oauth-request.js'

export const pkce: Rule = {
  info: {
    id: 'safety/oauth-pkce',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'An OAuth client does not use PKCE.',
    help: 'Anyone with the code can get the token. Clients must use PKCE, with S256.',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin: (_, say) => ({
    record(record, row) {
      const request = record.type === 'http' && row >= 0 ? oauthRequest(record) : undefined
      if (!request) return
      const { kind, parameters } = request
      const needed = kind === 'token' ? 'code_verifier' : 'code_challenge'
      if (!parameters.has(needed)) say(row, { message: `the ${kind} request has no ${needed}`, what: needed })
      else if (kind === 'authorization' && parameters.get('code_challenge_method') !== 'S256')
        say(row, { message: 'the code_challenge_method is not S256', what: 'method' })
    },
  }),
}
