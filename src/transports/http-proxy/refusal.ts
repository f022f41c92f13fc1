import type { IncomingMessage, ServerResponse } from 'node:http'

/** Why a request goes nowhere. */
export interface Refusal {
  /** As a sentence. */
  readonly why: string
  readonly status: number
}

/** What no upstream is asked for. */
export function refusalOf(request: IncomingMessage): Refusal | undefined {
  // Other upgrades (h2c) are offers, which the upstream may ignore; without this one nothing is left to say.
  if (/\bwebsocket\b/i.test(request.headers.upgrade ?? '')) {
    return { why: 'WebSocket connections are not supported', status: 501 }
  }
  return undefined
}

/** @param upstream the origin that failed to answer; undefined where we do not ask it */
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
