import { createRecent, isAnswer, opposite, type Envelope, type OpenRequest } from '../model/index.js'
import { requestKey } from './exchange-key.js'
import type { Offer } from './frame.js'
import type { Asked } from './live-subject.js'

/** Limit of requests remembered, by method and name, for filters on their responses. */
const rememberedRequests = 4_096

/** Pending requests, as far as they passed the gate. */
export interface AskedRequests {
  has(key: string): boolean
  /** Remembers the subject of a request; returns the subject of a response's request. */
  about(offer: Pick<Offer, 'direction' | 'conversation'>, envelope: Envelope): Asked | undefined
  /** While true, every message must pass the gate: the requests sent before are not known yet. */
  readonly isWatching: boolean
  watch(): void
  /** @param open requests that were pending when watching began */
  learn(open: readonly OpenRequest[]): void
}

export function createAskedRequests(): AskedRequests {
  const asked = createRecent<Asked>({ entries: rememberedRequests })
  /** Requests answered since watching began. */
  let answered: Set<string> | undefined

  function remember(key: string, about: Asked): void {
    asked.set(key, about)
  }

  return {
    has: (key) => asked.get(key) !== undefined,
    about({ direction, conversation }, envelope) {
      const { id, kind, method = null, subject: name = null } = envelope
      if (id === undefined) return undefined
      if (isAnswer(envelope)) {
        const key = requestKey(conversation, opposite(direction), id)
        const about = asked.get(key)
        asked.delete(key)
        answered?.add(key)
        return about
      }
      if (kind === 'request') remember(requestKey(conversation, direction, id), { method, name })
      return undefined
    },
    get isWatching() {
      return answered !== undefined
    },
    watch() {
      answered ??= new Set()
    },
    learn(open) {
      const since = answered
      answered = undefined
      if (!since) return
      for (const { key, method, name } of open) {
        if (!since.has(key) && asked.get(key) === undefined) remember(key, { method, name })
      }
    },
  }
}
