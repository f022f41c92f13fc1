import type { HttpRecord } from '../../../model/index.js'

/** An OAuth client's request: the parameters of an authorization request, or of a token request with a code. */
export interface OAuthRequest {
  readonly kind: 'authorization' | 'token'
  readonly parameters: URLSearchParams
}

export const longestBody = 64 * 1024

/** Redaction replaces only the values of parameters: their names are on the tape. */
export function oauthRequest({ method, path, requestBody = '' }: HttpRecord): OAuthRequest | undefined {
  if (method === 'GET') {
    const parameters = new URLSearchParams(path.slice(0, longestBody).split('?')[1] ?? '')
    const isIt = parameters.get('response_type') === 'code' && parameters.has('client_id')
    return isIt ? { kind: 'authorization', parameters } : undefined
  }
  if (method !== 'POST' || !requestBody.includes('grant_type=authorization_code')) return undefined
  return { kind: 'token', parameters: new URLSearchParams(requestBody.slice(0, longestBody)) }
}
