import { createRecent, isAnswer, opposite, type Envelope, type OpenRequest } from '../model/index.js'
import { requestKey } from './exchange-key.js'
import type { Offer } from './frame.js'
import type { Asked } from './live-subject.js'

/** Requests whose method and name are remembered for filters on their answers. */
const rememberedRequests = 4_096

/** Requests that wait for an answer, as far as they came by. */
export interface AskedRequests {
  has(key: string): boolean
  /** Remembers what a request is about, and says what an answer's was. */
  about(offer: Pick<Offer, 'direction' | 'conversation'>, envelope: Envelope): Asked | undefined
  /** Everything has to come by until it has learned what was asked before. */
  readonly isWatching: boolean
  watch(): void
  /** @param open what waited for an answer when it began to watch */
  learn(open: readonly OpenRequest[]): void
}

export function createAskedRequests(): AskedRequests {
  const asked = createRecent<Asked>({ entries: rememberedRequests })
  /** Answered since it began to watch. */
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
