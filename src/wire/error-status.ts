import { JsonObject } from './json-object.js'

/** HTTP statuses of errors that a server of 2026-07-28 gives before a method runs. */
const statuses: Readonly<Record<string, number | undefined>> = {
  '-32601': 404,
  '-32020': 400,
  '-32021': 400,
  '-32022': 400,
}

/**
 * HTTP status of the response to one request of 2026-07-28. Invalid params (-32602) have 400 where the request lacks a
 * required member of `_meta`; from a method they are an answer like others, with 200.
 *
 * @param code of its error; undefined for a result
 * @param request its exact text
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
