import type { IncomingMessage } from 'node:http'
import { longestMessage } from '../../wire/index.js'

/** The text of a request's body; undefined when it is too long, or broke off. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of request) {
      const bytes = chunk as Buffer
      sizeBytes += bytes.length
      if (sizeBytes > longestMessage) return undefined
      chunks.push(bytes)
    }
  } catch {
    return undefined
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
