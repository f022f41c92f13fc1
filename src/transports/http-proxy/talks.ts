import { type Conversations, legacySessionOf } from './conversations.js'
import { createEndpoints } from './endpoints.js'
import type { EventFlow } from './event-flow.js'
import type { ExchangeHead } from './gatekeeper.js'
import { valuesOf } from './hop-headers.js'
import type { RawHeaders } from './http-event.js'

/** A POST that came. */
export interface PostedBefore {
  readonly connection: number
  readonly conversation: string
  readonly path: string
  readonly headers: RawHeaders
  /** Of the upstream, where a proxy has many. */
  readonly origin?: string
}

/** An event stream that is open towards a client. */
export interface OpenStream {
  readonly head: ExchangeHead
  /** The one of HTTP+SSE (2024-11-05), on which all answers of its talk come. */
  readonly isLegacy: boolean
  /** Sends an event of ours. False when it is over. */
  inject(text: string): boolean
}

/** Who talks: what a message of ours takes after, and where one can be sent. */
export interface Talks {
  /** Whose talk an exchange that begins belongs to, by the name that is recorded. */
  conversationOf(head: Pick<ExchangeHead, 'connection' | 'path' | 'headers' | 'origin'>): string
  posted(head: ExchangeHead): void
  /** What is said of the session in an answer. */
  begin(session: string, head: ExchangeHead): void
  /** The first event of a stream of HTTP+SSE told where to POST. */
  pointed(endpoint: string, head: ExchangeHead): void
  /** @returns to be called when the stream is over */
  opened(stream: EventFlow, head: ExchangeHead): () => void
  /** The last POST of each talk, the latest last. */
  posts(): PostedBefore[]
  streams(): OpenStream[]
}

/** Talks that are remembered. */
const mostPosts = 256

export function createTalks(conversations: Conversations): Talks {
  const streams = new Map<EventFlow, ExchangeHead>()
  const legacy = new WeakSet<ExchangeHead>()
  const posts = new Map<string, PostedBefore>()

  const endpoints = createEndpoints()

  const conversationOf: Talks['conversationOf'] = (head) => {
    const session = valuesOf(head.headers, 'mcp-session-id')[0] ?? legacySessionOf(head.path)
    return (session === undefined && endpoints.of(head)) || conversations.of(head, session)
  }

  return {
    conversationOf,
    posted(head) {
      const { connection, conversation, path, headers, origin } = head
      const talk = `${origin ?? ''} ${conversation}`
      posts.delete(talk)
      if (posts.size >= mostPosts) posts.delete(posts.keys().next().value!)
      posts.set(talk, { connection, conversation, path, headers, ...(origin !== undefined && { origin }) })
    },
    begin: (session, head) => void conversations.begin(session, head),
    pointed(endpoint, head) {
      legacy.add(head)
      const session = legacySessionOf(endpoint)
      if (session !== undefined) conversations.begin(session, head)
      else endpoints.named(endpoint, head, head.conversation)
    },
    opened(stream, head) {
      streams.set(stream, head)
      return () => {
        streams.delete(stream)
        endpoints.over(head.exchange)
      }
    },
    posts: () => [...posts.values()],
    streams: () =>
      [...streams].map(([stream, head]) => ({
        head,
        isLegacy: legacy.has(head),
        inject: (text: string) => stream.inject(text),
      })),
  }
}
