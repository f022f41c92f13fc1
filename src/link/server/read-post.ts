import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isAnswer } from '../../model/index.js'
import { isFault, longestMessage, messagesIn, readMessages, type Message } from '../../wire/index.js'
import type { MirroredHeaders } from '../mirrored-headers.js'
import { acceptsBoth, acceptsJson, isJsonType } from './media-types.js'
import { headerFault, isModern } from './modern-request.js'

/** How strict a server is: recorded ones are acted as they were. */
export interface PostPolicy {
  /** A body of another type than application/json is refused. */
  readonly contentType: boolean
  /** What has to be accepted as an answer: one JSON object; up to 2025-11-25 an event stream as well. */
  readonly accept: 'both' | 'json' | 'anything'
  /** What headers have to repeat of a request of the modern era; undefined where the server does not look at them. */
  readonly mirrored: MirroredHeaders | undefined
}

/** What a client sent. */
export interface Post {
  readonly bytes: Buffer
  /** Exact JSON text. */
  readonly raw: string
  readonly batch: boolean
  /** Each on one line. */
  readonly messages: readonly Message[]
  /** Of the modern era, where there is but one message in a POST. */
  readonly isModern: boolean
}

/** Why a POST is refused. */
export interface PostFault {
  readonly kind: 'content-type' | 'too-long' | 'no-json' | 'invalid' | 'accept' | 'header'
  /** Of HTTP. */
  readonly status: number
  /** Of the JSON-RPC error, where the specification has one. */
  readonly code?: number
  readonly why: string
  /** Exact text of that of the request. */
  readonly id?: string | undefined
}

/** Reads a POST and looks whether it is one. */
export async function readPost(request: IncomingMessage, policy: PostPolicy): Promise<Post | PostFault> {
  const { headers } = request
  if (policy.contentType && !isJsonType(headers['content-type'])) {
    request.resume()
    return { kind: 'content-type', status: 415, why: 'a POST must be application/json' }
  }
  const bytes = await readBody(request)
  if (!bytes) return { kind: 'too-long', status: 413, why: 'the body is longer than 64 MB' }
  // A byte order mark is no part of the text (RFC 8259, 8.1).
  const frame = readMessages(new TextDecoder().decode(bytes))
  if (isFault(frame)) return { kind: 'no-json', status: 400, code: -32_700, why: 'the body is not JSON' }
  const { text: raw, batch, parts } = frame
  const invalid = parts.find(({ envelope }) => envelope.kind === 'invalid')
  const messages = invalid ? undefined : messagesIn(raw)
  if (!messages || messages.length === 0) {
    const why = invalid?.envelope.problem ?? 'the body is not JSON-RPC'
    return { kind: 'invalid', status: 400, code: -32_600, why }
  }
  const modern = isModern(policy.mirrored ? headers : {}, messages)
  const post: Post = { bytes, raw, batch, messages, isModern: modern }
  return faultOf(headers, post, policy) ?? post
}

function faultOf(
  headers: IncomingHttpHeaders,
  { messages, isModern: modern }: Post,
  { accept, mirrored }: PostPolicy,
): PostFault | undefined {
  if (modern && mirrored) {
    const [first, ...others] = messages
    if (others.length > 0 || isAnswer(first!.envelope)) {
      const why = 'a POST must be one request or one notification'
      return { kind: 'invalid', status: 400, code: -32_600, why }
    }
    const fault = headerFault(headers, first!, mirrored)
    if (fault) return { kind: 'header', status: 400, ...fault, id: first!.envelope.id }
  }
  const isAccepted =
    accept === 'anything' ||
    (accept === 'json' ? acceptsJson(headers.accept) : modern || acceptsBoth(headers.accept))
  if (isAccepted) return undefined
  const why = 'a POST must accept application/json and text/event-stream'
  return { kind: 'accept', status: 406, why }
}

/** Undefined when it is too long, or broke off. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of request) {
      sizeBytes += (chunk as Buffer).length
      if (sizeBytes <= longestMessage) chunks.push(chunk as Buffer)
      else chunks.length = 0
    }
  } catch {
    return undefined
  }
  return sizeBytes > longestMessage ? undefined : Buffer.concat(chunks)
}
