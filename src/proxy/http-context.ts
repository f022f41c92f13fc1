import type { Direction, HttpContext, HttpRecord } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import type { HttpExchange } from './http-exchange.js'

/** The place of a message in HTTP. The first message of a side carries its head. */
export function contextIn(exchange: HttpExchange, direction: Direction, redactor: Redactor): HttpContext {
  const { number, method, path, response } = exchange
  if (direction === 'client_to_server') {
    exchange.requestTold = true
    return { exchange: number, method, path, headers: redactor.headers(exchange.requestHead.headers) }
  }
  if (!response) return { exchange: number }
  const { status, head, told, phases } = response
  response.told = true
  if (told) return { exchange: number, status }
  const headers = redactor.headers(head.headers)
  return phases ? { exchange: number, status, headers, phases } : { exchange: number, status, headers }
}

/** The record of an exchange besides its messages. Heads are recorded once. */
export function recordOfExchange(
  exchange: HttpExchange,
  stamp: Pick<HttpRecord, 't' | 'us'>,
  redactor: Redactor,
): HttpRecord {
  const { number, conversation, method, path, response, requestText } = exchange
  const tellsRequest = !exchange.requestTold
  exchange.requestTold = true
  const tellsResponse = response !== undefined && !response.told
  if (response) response.told = true
  return {
    type: 'http',
    ...stamp,
    exchange: number,
    conversation,
    method,
    path,
    ...(tellsRequest && { requestHeaders: redactor.headers(exchange.requestHead.headers) }),
    ...(tellsRequest && requestText !== undefined && { requestBody: requestText }),
    ...(response && { status: response.status }),
    ...(tellsResponse && { headers: redactor.headers(response.head.headers) }),
    ...(tellsResponse && response.phases && { phases: response.phases }),
  }
}
