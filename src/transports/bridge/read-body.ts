import type { IncomingMessage } from 'node:http'

const longestBody = 64 * 1024 * 1024

/** Undefined when it is too long. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    sizeBytes += (chunk as Buffer).length
    if (sizeBytes <= longestBody) chunks.push(chunk as Buffer)
    else chunks.length = 0
  }
  return sizeBytes > longestBody ? undefined : Buffer.concat(chunks)
}
