import type { Transport } from '../model/index.js'
import { GateFault } from './fault.js'
import { HttpEntries } from './http-entries.js'
import { createHttpKeeper } from './http-keeper.js'
import type { HttpLanes } from './http-lanes.js'
import { createHttpPosts } from './http-posts.js'
import type { Intercept } from './intercept.js'
import type { Ledger, ToolBook } from './ledger.js'
import { createToolHeaders } from './tool-headers.js'
import type { GatedWire, Injection } from './wire.js'

/** Connects an HTTP proxy to the gate: while gated, it offers whole requests, responses and events. */
export function createHttpWire(
  lanes: HttpLanes,
  intercept: Intercept,
  ledger: Ledger & ToolBook,
  transport: Transport,
): GatedWire {
  const { talks } = lanes
  const entries = new HttpEntries(ledger)
  const tools = createToolHeaders(ledger, (sentence) => {
    entries.note(sentence)
    intercept.unseen(sentence)
  })
  const posts = createHttpPosts(lanes, entries, tools)
  let gated = false
  const keeper = createHttpKeeper({
    intercept,
    transport,
    talks,
    entries,
    posts,
    tools,
    isGated: () => gated,
  })

  function postOurs(injection: Injection): ReturnType<GatedWire['inject']> {
    const like = talks.posts().findLast(({ conversation }) => conversation === injection.conversation)
    if (!like) throw new GateFault('no-peer', 'no client has sent a message yet')
    const sent = posts.send(like, injection).catch((error: unknown) => {
      throw new GateFault('no-peer', error instanceof Error ? error.message : String(error))
    })
    const stream = talks
      .streams()
      .find(({ head, isLegacy }) => isLegacy && head.conversation === injection.conversation)
    if (stream) {
      const failure = sent.then(() => new Promise<never>(() => undefined))
      failure.catch(() => undefined)
      return { failure }
    }
    const answer = sent.then(({ answer: came, instead }) => {
      if (came !== undefined) return came
      throw new GateFault('no-answer', instead)
    })
    // The caller may ignore it.
    answer.catch(() => undefined)
    return { answer }
  }

  return {
    setGated(on) {
      gated = on
      lanes.setGatekeeper(keeper)
    },
    conversationFor({ direction, conversation }) {
      const heads = direction === 'client_to_server' ? talks.posts() : talks.streams().map(({ head }) => head)
      const names = heads.map((head) => head.conversation)
      return names.findLast((name) => conversation === undefined || conversation === name)
    },
    inject(injection) {
      const { id, direction, text, conversation, rule } = injection
      if (direction === 'client_to_server') return postOurs(injection)
      const stream = talks.streams().findLast(({ head }) => head.conversation === conversation)
      if (!stream?.inject(text)) {
        throw new GateFault(
          'no-peer',
          'the client has no open event stream',
          'a client opens one with GET or with a request',
        )
      }
      entries.ours(stream.head.exchange, text, rule, id)
      return {}
    },
  }
}
