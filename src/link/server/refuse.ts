import type { ServerResponse } from 'node:http'

/** Responds with a JSON-RPC error. @param id exact text of the request's id */
export function sendError(
  response: ServerResponse,
  status: number,
  error: { readonly code: number; readonly message: string },
  id = 'null',
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...headers,
  })
  response.end(body)
}

export function accept(response: ServerResponse, text?: string): void {
  response.writeHead(202)
  response.end(text)
}

export function notAllowed(response: ServerResponse, allowed: string): void {
  sendError(response, 405, { code: -32000, message: 'Method not allowed.' }, 'null', { Allow: allowed })
}

/** Refuses a request to a bridge in our own name. @param code JSON-RPC error code @param id id of the request */
export function refuse(
  response: ServerResponse,
  status: number,
  why: string,
  code = status,
  id?: string,
): void {
  const allowed = status === 405 ? { Allow: 'POST, GET, DELETE' } : {}
  sendError(response, status, { code, message: `wiretape: ${why}` }, id, allowed)
}
