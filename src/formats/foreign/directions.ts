import { createRecent, isAnswer, opposite, type Direction, type Envelope } from '../../model/index.js'
import { idKey } from '../../wire/index.js'

/** Methods that only servers send. */
const ofServers = new Set([
  'sampling/createMessage',
  'roots/list',
  'elicitation/create',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
  'notifications/subscriptions/acknowledged',
])
export function isServersMethod(method: string): boolean {
  return ofServers.has(method)
}

/** Requests that are remembered, of each kind. */
const remembered = 65_536

/**
 * Tells who sent a message where the file does not: by its method, an answer by its request, progress by its token.
 * What could be of either side is taken for the client's.
 */
export function createDirections(): (envelope: Envelope) => Direction {
  /** Who waits under an id, the longest first. */
  const waiting = createRecent<Direction[]>({ entries: remembered })
  /** Tokens that servers offered: of all others it is the server that tells progress. */
  const tokens = createRecent<'server_to_client'>({ entries: remembered })

  function ofAnswer(id: string): Direction {
    const open = waiting.get(idKey(id))
    const asker = open?.shift()
    if (open?.length === 0) waiting.delete(idKey(id))
    return asker === undefined ? 'server_to_client' : opposite(asker)
  }

  function ofMethod({ method = '', kind, progressToken, cancels }: Envelope): Direction {
    if (ofServers.has(method)) return 'server_to_client'
    if (kind !== 'notification') return 'client_to_server'
    if (method === 'notifications/progress') {
      const offered = progressToken === undefined ? undefined : tokens.get(idKey(progressToken))
      return offered === undefined ? 'server_to_client' : opposite(offered)
    }
    if (cancels !== undefined) return waiting.get(idKey(cancels))?.[0] ?? 'client_to_server'
    return 'client_to_server'
  }

  return (envelope) => {
    const { id, kind, progressToken } = envelope
    if (isAnswer(envelope) || envelope.method === undefined) {
      return id === undefined ? 'server_to_client' : ofAnswer(id)
    }
    const direction = ofMethod(envelope)
    if (kind === 'request' && id !== undefined) {
      const open = waiting.get(idKey(id))
      if (open) open.push(direction)
      else waiting.set(idKey(id), [direction])
      if (progressToken !== undefined) {
        if (direction === 'server_to_client') tokens.set(idKey(progressToken), direction)
        else tokens.delete(idKey(progressToken))
      }
    }
    return direction
  }
}
