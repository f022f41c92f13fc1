import type { Envelope } from '../model/index.js'

/** The response to a request of the server for which the recording has none. */
export type Unanswered =
  /** A JSON-RPC error: method not found. */
  | 'error'
  /** An empty result. */
  | 'empty'
  /** Like `error`, and the replay fails. */
  | 'fail'

/** The response where the recording has none. A ping always gets a result. */
export function defaultAnswer({ id = 'null', method }: Envelope, unanswered: Unanswered): string {
  if (method === 'ping' || unanswered === 'empty') return `{"jsonrpc":"2.0","id":${id},"result":{}}`
  const message = JSON.stringify(`the recording has no response to ${method}`)
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":${message}}}`
}
