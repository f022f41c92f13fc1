import { JsonObject } from './json-object.js'

/** HTTP statuses of errors that a server of 2026-07-28 sends before a method runs. */
const statuses: Readonly<Record<string, number | undefined>> = {
  '-32601': 404,
  '-32020': 400,
  '-32021': 400,
  '-32022': 400,
}

/**
 * HTTP status of the response to one request of 2026-07-28. Invalid params (-32602) have status 400 when the request
 * lacks a required member of `_meta`. From a method, they are an ordinary response with status 200.
 *
 * @param code error code; undefined for a result
 * @param request exact text of the request
 */
export function statusOfError(code: string | undefined, request: string): number {
  if (code === '-32602') return lacksMeta(request) ? 400 : 200
  return statuses[code ?? ''] ?? 200
}

function lacksMeta(request: string): boolean {
  if (!request.startsWith('{')) return false
  const meta = new JsonObject(request, 0).object('params')?.object('_meta')
  const version = meta?.string('io.modelcontextprotocol/protocolVersion')
  return version === undefined || !meta?.object('io.modelcontextprotocol/clientCapabilities')
}
