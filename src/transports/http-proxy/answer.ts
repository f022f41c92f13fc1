import type { RawHeaders } from '../../wire/index.js'
import type { IncomingMessage } from 'node:http'
import type { BodyChange } from './body-flow.js'
import { createEndpointMove } from './endpoint-event.js'
import { endToEnd, replaceValues, saysClose, transferCodings, valuesOf } from './hop-headers.js'
import { createResourceMove, type MetadataPlaces } from './protected-resource.js'

/** Rewriting of responses: names of the upstream that become ours where a client would otherwise stop. */
export interface AnswerRules {
  readonly upstream: URL
  readonly oauthRewrite: boolean
  readonly places: MetadataPlaces
  /** Called whenever authorization data for a client was rewritten. */
  readonly onOauthRewritten: () => void
}

/** The way in which a response is forwarded. */
export interface Answer {
  /** Whether the client can see where the body ends, and so whether bytes are missing. */
  readonly framed: boolean
  /** Whether `change` forwards the head. */
  readonly waits: boolean
  /** @param sizeBytes size of the body, when it differs from the upstream's */
  headers(sizeBytes?: number): string[]
  /** @param passHead sends `headers(sizeBytes)` */
  readonly change?: (passHead: (sizeBytes?: number) => void) => BodyChange
}

/**
 * @param rules without them, nothing is rewritten
 * @param ownPrefix first part of the path by which the client reaches us
 */
export function answerOf(
  request: IncomingMessage,
  came: IncomingMessage,
  rules: AnswerRules | undefined,
  ownPrefix: string,
): Answer {
  const { rawHeaders, statusCode } = came
  const hasLength = valuesOf(rawHeaders, 'content-length').length > 0
  const from = rules?.upstream.origin ?? ''
  // Clients compare with the name they used for us, which may differ from the one we would choose.
  const origin = `http://${request.headers.host}`
  const to = origin + ownPrefix

  const answer: Answer = {
    // Responses to HTTP/1.0 are not chunked: without a length they end with the connection.
    framed: hasLength || request.httpVersion !== '1.0',
    waits: false,
    headers(sizeBytes) {
      const headers = endToEnd(rawHeaders)
      if (sizeBytes !== undefined) replaceValues(headers, 'content-length', () => String(sizeBytes))
      if (rules?.oauthRewrite) replaceValues(headers, 'www-authenticate', moved)
      const codings = transferCodings(rawHeaders)
      // Node adds `chunked` itself when the client understands it.
      if (codings !== undefined && codings.toLowerCase() !== 'chunked')
        headers.push('Transfer-Encoding', codings)
      if (saysClose(rawHeaders)) headers.push('Connection', 'close')
      return headers
    },
  }

  function moved(value: string): string {
    const ours = rules!.places.moveChallenge(value, from, to)
    if (ours !== value) rules!.onOauthRewritten()
    return ours
  }

  const { method = '', url = '' } = request
  if (!rules || statusCode !== 200 || method !== 'GET' || isEncoded(rawHeaders)) return answer
  const type = valuesOf(rawHeaders, 'content-type')[0] ?? ''
  if (/^text\/event-stream\b/i.test(type) && !hasLength) {
    return { ...answer, change: () => createEndpointMove(from, to, ownPrefix) }
  }
  if (rules.oauthRewrite && rules.places.has(method, url) && /^application\/json\b/i.test(type)) {
    const change = (passHead: (sizeBytes?: number) => void): BodyChange =>
      // The prefix is a secret, and a resource identifier is shown to others: our whole origin stands for it.
      createResourceMove(from, origin, ownPrefix === '' ? undefined : `${origin}/`, (sizeBytes) => {
        if (sizeBytes !== undefined) rules.onOauthRewritten()
        passHead(sizeBytes)
      })
    return { ...answer, waits: true, change }
  }
  return answer
}

function isEncoded(headers: RawHeaders): boolean {
  return valuesOf(headers, 'content-encoding').some((coding) => !/^(identity)?$/i.test(coding.trim()))
}
