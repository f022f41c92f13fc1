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

/** Methods with results of a recognizable shape: see `Envelope.answersMethod`. */
const ofShape = new Set(['sampling/createMessage', 'roots/list', 'elicitation/create'])

/** An open request. */
interface Waiting {
  readonly direction: Direction
  readonly method: string | undefined
}

/** Whether a response fits a request: a result of a known shape answers only its method. */
function fits({ method = '' }: Waiting, { kind, answersMethod }: Envelope): boolean {
  if (kind === 'error') return true
  return answersMethod === undefined ? !ofShape.has(method) : answersMethod === method
}

/** Requests remembered, of each kind. */
const remembered = 65_536

/**
 * Infers the sender of a message where the file does not name it: from its method; for a response, its request; for
 * progress, its token. If requests of both sides are open under one id, the response's shape decides. Ambiguous
 * messages count as the client's.
 */
export function createDirections(): (envelope: Envelope) => Direction {
  /** Open requests under an id, the oldest first. */
  const waiting = createRecent<Waiting[]>({ entries: remembered })
  /** Tokens offered by servers; progress for any other token comes from the server. */
  const tokens = createRecent<'server_to_client'>({ entries: remembered })

  function ofAnswer(id: string, answer: Envelope): Direction {
    const open = waiting.get(idKey(id))
    if (!open) return 'server_to_client'
    const at = open.findIndex((request) => fits(request, answer))
    const [asker] = open.splice(Math.max(at, 0), 1)
    if (open.length === 0) waiting.delete(idKey(id))
    return opposite(asker!.direction)
  }

  function ofMethod({ method = '', kind, progressToken, cancels }: Envelope): Direction {
    if (ofServers.has(method)) return 'server_to_client'
    if (kind !== 'notification') return 'client_to_server'
    if (method === 'notifications/progress') {
      const offered = progressToken === undefined ? undefined : tokens.get(idKey(progressToken))
      return offered === undefined ? 'server_to_client' : opposite(offered)
    }
    if (cancels !== undefined) return waiting.get(idKey(cancels))?.[0]?.direction ?? 'client_to_server'
    return 'client_to_server'
  }

  return (envelope) => {
    const { id, kind, progressToken } = envelope
    if (isAnswer(envelope) || envelope.method === undefined) {
      return id === undefined ? 'server_to_client' : ofAnswer(id, envelope)
    }
    const direction = ofMethod(envelope)
    if (kind === 'request' && id !== undefined) {
      const open = waiting.get(idKey(id))
      const request = { direction, method: envelope.method }
      if (open) open.push(request)
      else waiting.set(idKey(id), [request])
      if (progressToken !== undefined) {
        if (direction === 'server_to_client') tokens.set(idKey(progressToken), direction)
        else tokens.delete(idKey(progressToken))
      }
    }
    return direction
  }
}
