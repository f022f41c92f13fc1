/**
 * HTTP statuses of errors that a server of 2026-07-28 gives before a method runs. Invalid params (-32602) have 400
 * only where `_meta` lacks a required member, which is refused before the server sees it; from a method they are an
 * answer like others, with 200.
 */
const statuses: Readonly<Record<string, number | undefined>> = {
  '-32601': 404,
  '-32020': 400,
  '-32021': 400,
  '-32022': 400,
}

/** HTTP status of the response to one request of 2026-07-28. @param code of its error; undefined for a result */
export function statusOfError(code: string | undefined): number {
  return statuses[code ?? ''] ?? 200
}
