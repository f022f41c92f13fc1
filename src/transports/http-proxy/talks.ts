import type { RawHeaders } from '../../wire/index.js'
import { type Conversations, legacySessionOf } from './conversations.js'
import { createEndpoints } from './endpoints.js'
import type { EventFlow } from './event-flow.js'
import type { ExchangeHead } from './gatekeeper.js'
import { valuesOf } from './hop-headers.js'

/** A POST received from a client. */
export interface PostedBefore {
  readonly connection: number
  readonly conversation: string
  readonly path: string
  readonly headers: RawHeaders
  /** Origin of the upstream, where a proxy has many. */
  readonly origin?: string
}

/** An open event stream to a client. */
export interface OpenStream {
  readonly head: ExchangeHead
  /** Whether it is the stream of HTTP+SSE (2024-11-05), which carries all responses of its conversation. */
  readonly isLegacy: boolean
  /** Sends our own event. False when the stream is over. */
  inject(text: string): boolean
}

/** Open streams and recent POSTs per conversation: models and channels for messages of our own. */
export interface Talks {
  /** The recorded name of the conversation of a new exchange. */
  conversationOf(head: Pick<ExchangeHead, 'connection' | 'path' | 'headers' | 'origin'>): string
  posted(head: ExchangeHead): void
  /** A response assigned a session id. */
  begin(session: string, head: ExchangeHead): void
  /** The first event of an HTTP+SSE stream named the endpoint for POST. */
  pointed(endpoint: string, head: ExchangeHead): void
  /** @returns a function to call when the stream is over */
  opened(stream: EventFlow, head: ExchangeHead): () => void
  /** The last POST of each conversation, the most recent last. */
  posts(): PostedBefore[]
  streams(): OpenStream[]
}

/** Conversations that are remembered. */
const mostPosts = 256

export function createTalks(conversations: Conversations): Talks {
  const streams = new Map<EventFlow, ExchangeHead>()
  const legacy = new WeakSet<ExchangeHead>()
  /** Changed in place: a `Map` with deleted and new entries keeps its former contents alive (see `bag.ts`). */
  const posts = new Map<string, { post: PostedBefore; turn: number }>()
  let turns = 0

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
      const post = { connection, conversation, path, headers, ...(origin !== undefined && { origin }) }
      const turn = turns++
      const known = posts.get(talk)
      if (known) {
        known.post = post
        known.turn = turn
        return
      }
      if (posts.size >= mostPosts) posts.delete(oldestOf(posts))
      posts.set(talk, { post, turn })
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
    posts: () => [...posts.values()].toSorted((a, b) => a.turn - b.turn).map(({ post }) => post),
    streams: () =>
      [...streams].map(([stream, head]) => ({
        head,
        isLegacy: legacy.has(head),
        inject: (text: string) => stream.inject(text),
      })),
  }
}

function oldestOf(posts: ReadonlyMap<string, { readonly turn: number }>): string {
  let oldest = ''
  let least = Infinity
  for (const [talk, { turn }] of posts) {
    if (turn >= least) continue
    least = turn
    oldest = talk
  }
  return oldest
}
