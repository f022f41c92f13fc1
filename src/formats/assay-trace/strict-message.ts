import { JsonObject } from '../../wire/index.js'
import { requestMethods } from '../strict-requests.js'
import type { Meaning } from './meaning.js'
import { isInteger } from './number-text.js'
import { isObject, type Loose } from './strict-json.js'

/**
 * The reason why the strict profile refuses a message, apart from its id.
 *
 * @param raw exact text of a member
 */
export function strictRefusal(
  value: Loose,
  number: number,
  raw: (name: string) => string | undefined,
): string | undefined {
  const at = `MCP event at source line ${number}`
  if (value['jsonrpc'] !== '2.0') return `${at} must carry JSON-RPC version 2.0`
  if (Object.hasOwn(value, 'method')) {
    return typeof value['method'] === 'string' ? undefined : `${at}: JSON-RPC method must be a string`
  }
  const hasError = Object.hasOwn(value, 'error')
  if (hasError === Object.hasOwn(value, 'result')) {
    return `${at}: a JSON-RPC response must carry exactly one of result or error`
  }
  if (!hasError || isErrorObject(value['error'], raw)) return undefined
  return `${at}: a JSON-RPC error response must carry an integer code and string message`
}

function isErrorObject(error: unknown, raw: (name: string) => string | undefined): boolean {
  if (!isObject(error) || typeof error['message'] !== 'string') return false
  return typeof error['code'] === 'number' && isInteger(new JsonObject(raw('error')!, 0).raw('code')!)
}

/** Whether a message has no id, or the id `null`, where the strict profile requires one. */
export function lacksId(value: Loose, meaning: Meaning): boolean {
  const { id } = value
  if (id !== null && id !== undefined) return false
  if (typeof value['method'] === 'string') return id === null || requestMethods.has(value['method'])
  return meaning !== 'error'
}

/** An id with its type. Numbers other than 64-bit integers are not correlated. */
export function typedKey(value: unknown, id: string | undefined): string | undefined {
  if (id === undefined) return undefined
  if (typeof value === 'string') return `Str(${JSON.stringify(id)})`
  return isInteger(id) ? `Num("${id}")` : undefined
}
