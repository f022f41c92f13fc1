import type { IncomingMessage, ServerResponse } from 'node:http'

/** The reason why a request is not forwarded. */
export interface Refusal {
  /** A sentence. */
  readonly why: string
  readonly status: number
}

/** Requests that are never forwarded. */
export function refusalOf(request: IncomingMessage): Refusal | undefined {
  // The upstream may ignore other upgrades (h2c). A WebSocket request is useless without its upgrade.
  if (/\bwebsocket\b/i.test(request.headers.upgrade ?? '')) {
    return { why: 'WebSocket connections are not supported', status: 501 }
  }
  return undefined
}

/** @param upstream the origin that failed to respond; undefined when the request was not sent to it */
export function refuse(
  response: ServerResponse,
  { why, status }: Refusal,
  upstream: string | undefined,
): void {
  const what = upstream === undefined ? 'refused this request' : `got no response from ${upstream}`
  const text = `wiretape ${what}: ${why}.\n`
  response.sendDate = false
  response.writeHead(status, [
    'Content-Type',
    'text/plain; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(text)),
  ])
  response.end(text)
}

/** Answers in place of the upstream. @param body JSON */
export function answerAlone(response: ServerResponse, status: number, body: Uint8Array | undefined): void {
  response.sendDate = false
  const type = body ? ['Content-Type', 'application/json'] : []
  response.writeHead(status, [...type, 'Content-Length', String(body?.length ?? 0)])
  response.end(body)
}
