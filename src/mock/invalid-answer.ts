import type { Envelope } from '../model/index.js'
import { kindAt, membersOf } from '../wire/index.js'

/** JSON-RPC 2.0, section 5.1. */
const invalidRequest = -32600

/**
 * The error for a message that is not JSON-RPC. The sender of a broken request may still await a response; the sender
 * of a broken response does not, and gets none.
 *
 * @param text accepted by `findJsonValue`
 */
export function invalidAnswer(text: string, { id, problem }: Envelope): string | undefined {
  const isObject = kindAt(text, 0) === 'object'
  const names = new Set(isObject ? membersOf(text, 0).map(({ name }) => name) : [])
  if (!names.has('method') && (names.has('result') || names.has('error'))) return undefined
  const isId = id !== undefined && ['string', 'number'].includes(kindAt(id, 0))
  const said = JSON.stringify(`wiretape mock: not a JSON-RPC 2.0 request: ${problem}`)
  const error = `{"code":${invalidRequest},"message":${said}}`
  return `{"jsonrpc":"2.0","id":${isId ? id : 'null'},"error":${error}}`
}
