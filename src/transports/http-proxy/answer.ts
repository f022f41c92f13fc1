import type { IncomingMessage } from 'node:http'
import type { BodyChange } from './body-flow.js'
import { createEndpointMove } from './endpoint-event.js'
import { endToEnd, replaceValues, saysClose, transferCodings, valuesOf } from './hop-headers.js'
import type { RawHeaders } from './http-event.js'
import { createResourceMove, type MetadataPlaces } from './protected-resource.js'

/** What in an answer names the upstream, and names us instead where a client would not go on otherwise. */
export interface AnswerRules {
  readonly upstream: URL
  readonly oauthRewrite: boolean
  readonly places: MetadataPlaces
  /** Called whenever what a client reads about authorization was changed. */
  readonly onOauthRewritten: () => void
}

/** How an answer is passed on. */
export interface Answer {
  /** True when the client can see where the body ends, and so whether something is missing. */
  readonly framed: boolean
  /** True when `change` passes the head on. */
  readonly waits: boolean
  /** @param sizeBytes of the body, when it is not what the upstream said */
  headers(sizeBytes?: number): string[]
  /** @param passHead sends `headers(sizeBytes)` */
  readonly change?: (passHead: (sizeBytes?: number) => void) => BodyChange
}

/**
 * @param rules nothing is changed without them
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
  // A client compares with the name by which it reached us, which need not be the one we would choose.
  const origin = `http://${request.headers.host}`
  const to = origin + ownPrefix

  const answer: Answer = {
    // Answers to HTTP/1.0 are not sent in chunks: without a length they end with the connection.
    framed: hasLength || request.httpVersion !== '1.0',
    waits: false,
    headers(sizeBytes) {
      const headers = endToEnd(rawHeaders)
      if (sizeBytes !== undefined) replaceValues(headers, 'content-length', () => String(sizeBytes))
      if (rules?.oauthRewrite) replaceValues(headers, 'www-authenticate', moved)
      const codings = transferCodings(rawHeaders)
      // Chunks alone need no word: Node decides about them by what the client understands.
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
      // The prefix is a secret, and a resource is told to others: all of our origin contains it.
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
