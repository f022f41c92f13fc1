import type { ServerResponse } from 'node:http'

/** An answer of our own: a JSON-RPC error without an id, as servers give it. */
export function refuse(response: ServerResponse, status: number, code: number, message: string): void {
  const text = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
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
