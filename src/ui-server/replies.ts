import type { IncomingMessage, ServerResponse } from 'node:http'

/** Bytes per command. */
const longestCommand = 32 * 1024 * 1024

export function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader('Content-Type', type)
  response.writeHead(200)
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

export function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 'application/json; charset=utf-8', JSON.stringify(value))
}

export function refuse(response: ServerResponse, status: number, why: string): void {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.writeHead(status)
  response.end(`${why}\n`)
}

/** The body of a command; undefined if too long. */
export async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > longestCommand) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The body of a command as JSON; undefined if invalid or too long. */
export async function jsonOf(request: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse((await bodyOf(request)) ?? '') as unknown
  } catch {
    return undefined
  }
}
