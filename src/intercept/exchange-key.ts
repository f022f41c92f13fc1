import {
  createRecent,
  isAnswer,
  opposite,
  requestKey as keyOf,
  type Direction,
  type Envelope,
} from '../model/index.js'
import { idKey } from '../wire/index.js'

/** Limit of remembered progress tokens, of requests that passed the gate. */
const rememberedTokens = 4_096
const longestToken = 1_000

/** Maps messages to exchanges: a held message blocks the rest of its own exchange only. */
export interface ExchangeKeys {
  /** Undefined for a message that belongs to no exchange. */
  of(envelope: Envelope, direction: Direction, conversation: string): string | undefined
}

export function createExchangeKeys(): ExchangeKeys {
  const tokens = createRecent<string>({ entries: rememberedTokens })

  function offered(token: string, key: string): void {
    if (token.length > longestToken) return
    tokens.set(token, key)
  }

  return {
    of(envelope, direction, conversation) {
      const { id, kind, cancels, progressToken } = envelope
      if (kind === 'request' && id !== undefined) {
        const key = requestKey(conversation, direction, id)
        if (progressToken !== undefined) offered(requestKey(conversation, direction, progressToken), key)
        return key
      }
      if (isAnswer(envelope) && id !== undefined) return requestKey(conversation, opposite(direction), id)
      if (cancels !== undefined) return requestKey(conversation, direction, cancels)
      if (progressToken !== undefined)
        return tokens.get(requestKey(conversation, opposite(direction), progressToken))
      return undefined
    },
  }
}

/** Key of a request by its sender's side. @param id exact JSON text */
export function requestKey(conversation: string, direction: Direction, id: string): string {
  return keyOf(conversation, direction, idKey(id))
}
