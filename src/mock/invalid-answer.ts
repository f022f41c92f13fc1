import type { Envelope } from '../model/index.js'
import { kindAt, membersOf } from '../wire/index.js'

/** JSON-RPC 2.0, section 5.1. */
const invalidRequest = -32600

/**
 * The error for what is no JSON-RPC: who asked so may wait for an answer all the same. Who answered so does not, and gets
 * none.
 *
 * @param text that `findJsonValue` has accepted
 */
export function invalidAnswer(text: string, { id, problem }: Envelope): string | undefined {
  const isObject = kindAt(text, 0) === 'object'
  const names = new Set(isObject ? membersOf(text, 0).map(({ name }) => name) : [])
  if (!names.has('method') && (names.has('result') || names.has('error'))) return undefined
  const isId = id !== undefined && ['string', 'number'].includes(kindAt(id, 0))
  const said = JSON.stringify(`wiretape mock: no JSON-RPC 2.0 request: ${problem}`)
  const error = `{"code":${invalidRequest},"message":${said}}`
  return `{"jsonrpc":"2.0","id":${isId ? id : 'null'},"error":${error}}`
}
