import type { IncomingMessage } from 'node:http'
import type { BodyChange } from './body-flow.js'
import { createEndpointMove } from './endpoint-event.js'
import { endToEnd, saysClose, transferCodings, valuesOf, type HeaderPair } from './hop-headers.js'
import { asksForProtectedResource, createResourceMove, moveChallenge } from './protected-resource.js'

/** What in an answer names the upstream, and names us instead where a client would not go on otherwise. */
export interface AnswerRules {
  readonly upstream: URL
  readonly oauthRewrite: boolean
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

/** @param rules nothing is changed without them */
export function answerOf(
  request: IncomingMessage,
  came: IncomingMessage,
  rules: AnswerRules | undefined,
): Answer {
  const from = rules?.upstream.origin ?? ''
  // A client compares with the name by which it reached us, which need not be the one we would choose.
  const to = `http://${request.headers.host}`
  const pairs = endToEnd(came.rawHeaders).map((pair) => (rules?.oauthRewrite ? challenge(pair) : pair))
  const hasLength = valuesOf(came.rawHeaders, 'content-length').length > 0

  function challenge(pair: HeaderPair): HeaderPair {
    const moved = moveChallenge(pair, from, to)
    if (moved[1] !== pair[1]) rules?.onOauthRewritten()
    return moved
  }

  const answer: Answer = {
    // Answers to HTTP/1.0 are not sent in chunks: without a length they end with the connection.
    framed: hasLength || request.httpVersion !== '1.0',
    waits: false,
    headers(sizeBytes) {
      const headers = pairs.flatMap(([name, value]) =>
        sizeBytes !== undefined && name.toLowerCase() === 'content-length'
          ? [name, String(sizeBytes)]
          : [name, value],
      )
      const codings = transferCodings(came.rawHeaders)
      // Chunks alone need no word: Node decides about them by what the client understands.
      if (codings !== undefined && codings.toLowerCase() !== 'chunked')
        headers.push('Transfer-Encoding', codings)
      if (saysClose(came.rawHeaders)) headers.push('Connection', 'close')
      return headers
    },
  }
  if (!rules || came.statusCode !== 200 || isEncoded(came)) return answer
  const type = came.headers['content-type'] ?? ''
  const { method = '', url = '' } = request
  if (method === 'GET' && /^text\/event-stream\b/i.test(type) && !hasLength) {
    return { ...answer, change: () => createEndpointMove(from, to) }
  }
  if (rules.oauthRewrite && asksForProtectedResource(method, url) && /^application\/json\b/i.test(type)) {
    const change = (passHead: (sizeBytes?: number) => void): BodyChange =>
      createResourceMove(from, to, (sizeBytes) => {
        if (sizeBytes !== undefined) rules.onOauthRewritten()
        passHead(sizeBytes)
      })
    return { ...answer, waits: true, change }
  }
  return answer
}

function isEncoded(came: IncomingMessage): boolean {
  return !/^(identity)?$/i.test((came.headers['content-encoding'] ?? '').trim())
}
