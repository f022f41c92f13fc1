import { JsonObject, kindAt } from '../../wire/index.js'
import { requestMethods } from '../strict-requests.js'

/** A message as the strictest reader sees it: its kind, or the reason why that reader refuses the file. */
export type Reading =
  | { readonly refusal: string }
  | { readonly kind: 'request' | 'answer' | 'notification'; readonly id?: string; readonly method?: string }

/** @param text checked JSON without surrounding white space and repeated members */
export function readMessage(text: string): Reading {
  if (kindAt(text, 0) !== 'object') return { refusal: 'it is not a JSON object' }
  const message = new JsonObject(text, 0)
  if (message.string('jsonrpc') !== '2.0') return { refusal: '"jsonrpc" is not "2.0"' }
  const id = message.raw('id')
  const hasId = id !== undefined && ['string', 'number'].includes(kindAt(id, 0))
  if (message.has('method')) {
    const method = message.string('method')
    if (method === undefined) return { refusal: '"method" is not a string' }
    if (id === undefined && !requestMethods.has(method)) return { kind: 'notification', method }
    return hasId
      ? { kind: 'request', id, method }
      : { refusal: 'the "id" of a request must be a string or number' }
  }
  if (message.has('result') === message.has('error')) {
    return { refusal: 'it must have "method", or exactly one of "result" and "error"' }
  }
  if (hasId) return errorRefusal(message) ?? { kind: 'answer', id }
  if (message.has('result')) return { refusal: 'the "id" of a result must be a string or number' }
  if (id !== undefined && id !== 'null') return { refusal: '"id" must be a string, number or null' }
  return errorRefusal(message) ?? { kind: 'answer' }
}

/**
 * A message as readers of the documented profile see it, which refuse only ids of another type: the last of
 * repeated members counts.
 *
 * @param text checked JSON
 */
export function readLoosely(text: string): Reading {
  if (kindAt(text, 0) !== 'object') return { refusal: 'it is not a JSON object' }
  const message = new JsonObject(text, 0)
  const id = message.raw('id') ?? 'null'
  const hasId = ['string', 'number'].includes(kindAt(id, 0))
  if (!hasId && id !== 'null') return { refusal: '"id" must be a string, number or null' }
  const named = hasId ? { id } : {}
  const method = message.string('method')
  if (method !== undefined) return { kind: hasId ? 'request' : 'notification', ...named, method }
  return { kind: message.has('result') || message.has('error') ? 'answer' : 'notification', ...named }
}

function errorRefusal(message: JsonObject): { readonly refusal: string } | undefined {
  if (!message.has('error')) return undefined
  const error = message.object('error')
  const isError = error && isInteger(error.raw('code') ?? '') && error.string('message') !== undefined
  return isError ? undefined : { refusal: '"error" must have an integer "code" and a string "message"' }
}

/** A 64-bit integer, signed or not; readers treat `-0` and `1.0` as other numbers. */
function isInteger(text: string): boolean {
  if (!/^(?:0|-?[1-9][0-9]{0,19})$/.test(text)) return false
  const value = BigInt(text)
  return value >= -(2n ** 63n) && value < 2n ** 64n
}
