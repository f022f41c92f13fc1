import type { IncomingMessage } from 'node:http'
import { longestMessage } from '../../wire/index.js'

/** Undefined when it is too long. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    sizeBytes += (chunk as Buffer).length
    if (sizeBytes <= longestMessage) chunks.push(chunk as Buffer)
    else chunks.length = 0
  }
  return sizeBytes > longestMessage ? undefined : Buffer.concat(chunks)
}
