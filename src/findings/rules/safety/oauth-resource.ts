import type { Fault, Rule } from '../../finding.js'
import { sources } from '../sources.js'
import { oauthRequest, type OAuthRequest } from './oauth-request.js'

/** A rule that checks one OAuth request after the other. */
function eachRequest(faultOf: (request: OAuthRequest) => Fault | undefined): Rule['begin'] {
  return (_, say) => ({
    record(record, row) {
      const request = record.type === 'http' && row >= 0 ? oauthRequest(record) : undefined
      const fault = request && faultOf(request)
      if (fault) say(row, fault)
    },
  })
}

export const resourceParameter: Rule = {
  info: {
    id: 'safety/oauth-resource',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'An OAuth client does not name the server that a token is for.',
    help: 'A token without an audience works at other servers too. Clients must send the resource parameter (RFC 8707).',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin: eachRequest(({ kind, parameters }) =>
    parameters.has('resource') ? undefined : { message: `the ${kind} request has no resource`, what: kind },
  ),
}
