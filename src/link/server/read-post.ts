import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isAnswer } from '../../model/index.js'
import { isFault, longestMessage, messagesIn, readMessages, type Message } from '../../wire/index.js'
import type { MirroredHeaders } from '../mirrored-headers.js'
import { acceptsBoth, acceptsJson, isJsonType } from './media-types.js'
import { headerFault, isModern } from './modern-request.js'

/** The strictness of a server. Mocks of recorded servers are as strict as those were. */
export interface PostPolicy {
  /** Refuses a body of another type than application/json. */
  readonly contentType: boolean
  /** The types that a client must accept for a response: JSON; up to 2025-11-25 an event stream as well. */
  readonly accept: 'both' | 'json' | 'anything'
  /** The headers that must repeat the body in the modern era; undefined when the server does not check them. */
  readonly mirrored: MirroredHeaders | undefined
}

/** A POST of a client. */
export interface Post {
  readonly bytes: Buffer
  /** Exact JSON text. */
  readonly raw: string
  readonly batch: boolean
  /** Each on one line. */
  readonly messages: readonly Message[]
  /** Whether it belongs to the modern era, which allows only one message per POST. */
  readonly isModern: boolean
}

/** The reason why a POST is refused. */
export interface PostFault {
  readonly kind: 'content-type' | 'too-long' | 'no-json' | 'invalid' | 'accept' | 'header'
  /** HTTP status. */
  readonly status: number
  /** Code of the JSON-RPC error, where the specification defines one. */
  readonly code?: number
  readonly why: string
  /** Exact text of the request's id. */
  readonly id?: string | undefined
}

/** Reads and checks a POST. */
export async function readPost(request: IncomingMessage, policy: PostPolicy): Promise<Post | PostFault> {
  const { headers } = request
  if (policy.contentType && !isJsonType(headers['content-type'])) {
    request.resume()
    return { kind: 'content-type', status: 415, why: 'a POST must be application/json' }
  }
  const bytes = await readBody(request)
  if (!bytes) return { kind: 'too-long', status: 413, why: 'the body is longer than 64 MB' }
  // A byte order mark is not part of the text (RFC 8259, 8.1).
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

/** Undefined when the body is too long, or incomplete. */
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
