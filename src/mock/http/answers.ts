import type { ServerResponse } from 'node:http'
import { sendError } from '../../link/index.js'

/**
 * An answer of our own: a JSON-RPC error, as servers give it.
 *
 * @param id exact text of that of the request @default null
 */
export function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id?: string,
): void {
  sendError(response, status, { code, message }, id)
}

export function accept(response: ServerResponse, text?: string): void {
  response.writeHead(202)
  response.end(text)
}

export function notAllowed(response: ServerResponse, allowed: string): void {
  sendError(response, 405, { code: -32000, message: 'Method not allowed.' }, 'null', { Allow: allowed })
}
