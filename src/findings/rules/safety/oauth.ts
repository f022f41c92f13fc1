import type { HttpRecord } from '../../../model/index.js'
import type { Fault, Rule } from '../../finding.js'
import { textAt, type Json } from '../../json.js'
import { sources } from '../sources.js'

/** What an OAuth client asks for: the parameters of an authorization request, or of a token request for a code. */
interface OAuthRequest {
  readonly kind: 'authorization' | 'token'
  readonly parameters: URLSearchParams
}

const longestBody = 64 * 1024

/** Redaction replaces values of parameters only: their names stand on the tape. */
function oauthRequest({ method, path, requestBody = '' }: HttpRecord): OAuthRequest | undefined {
  if (method === 'GET') {
    const parameters = new URLSearchParams(path.slice(0, longestBody).split('?')[1] ?? '')
    const isIt = parameters.get('response_type') === 'code' && parameters.has('client_id')
    return isIt ? { kind: 'authorization', parameters } : undefined
  }
  if (method !== 'POST' || !requestBody.includes('grant_type=authorization_code')) return undefined
  return { kind: 'token', parameters: new URLSearchParams(requestBody.slice(0, longestBody)) }
}

/** A rule that looks at one OAuth request after the other. */
function eachRequest(faultOf: (request: OAuthRequest) => Fault | undefined): Rule['begin'] {
  return (_, say) => ({
    record(record, row) {
      const request = record.type === 'http' && row >= 0 ? oauthRequest(record) : undefined
      const fault = request && faultOf(request)
      if (fault) say(row, fault)
    },
  })
}

export const pkce: Rule = {
  info: {
    id: 'safety/oauth-pkce',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'An OAuth client does without PKCE.',
    help: 'Whoever gets hold of the code gets the token. Clients must use PKCE, with S256.',
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

export const resourceParameter: Rule = {
  info: {
    id: 'safety/oauth-resource',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'An OAuth client does not say which server a token is for.',
    help: 'A token without an audience works at other servers too. Clients must send the resource parameter (RFC 8707).',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin: eachRequest(({ kind, parameters }) =>
    parameters.has('resource') ? undefined : { message: `the ${kind} request has no resource`, what: kind },
  ),
}

const metadataPath = /^\/\.well-known\/oauth-protected-resource(?:[/?]|$)/

export const resourceMetadata: Rule = {
  info: {
    id: 'safety/oauth-metadata',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'The metadata of a server name another server as the resource.',
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
      // What the client was told names the recorder, which is on this machine.
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
