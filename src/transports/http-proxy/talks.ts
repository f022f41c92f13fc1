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
  /** Changed in place: a `Map` that entries are deleted from and set again keeps what was in it (see `bag.ts`). */
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
