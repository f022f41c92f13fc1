import type { ServerResponse } from 'node:http'

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
  id = 'null',
): void {
  const text = `{"jsonrpc":"2.0","error":${JSON.stringify({ code, message })},"id":${id}}`
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(text)
}

export function accept(response: ServerResponse, text?: string): void {
  response.writeHead(202)
  response.end(text)
}

export function notAllowed(response: ServerResponse, allowed: string): void {
  response.writeHead(405, { Allow: allowed, 'Content-Type': 'application/json' })
  response.end(
    JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message: 'Method not allowed.' }, id: null }),
  )
}
