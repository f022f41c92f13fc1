import type { ServerResponse } from 'node:http'
import { failureText } from '../../wire/index.js'

/** Answers a request that is not passed on, with a JSON-RPC error of ours. @param code its code @param id of the request */
export function refuse(
  response: ServerResponse,
  status: number,
  why: string,
  code = status,
  id = 'null',
): void {
  const body = Buffer.from(failureText(id, code, why))
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...(status === 405 && { Allow: 'POST, GET, DELETE' }),
  })
  response.end(body)
}
