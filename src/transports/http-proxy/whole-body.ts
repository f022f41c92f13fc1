import type { IncomingMessage } from 'node:http'
import zlib from 'node:zlib'
import { momentNow, type Moment } from './http-event.js'

/** Longer bodies are passed on unseen: they are not recorded either. */
const longestBody = 64 * 1024 * 1024

/** Gets a body as it comes, then whole. */
export interface BodyReader {
  chunk(bytes: Buffer, moment: Moment): void
  whole(bytes: Buffer, moment: Moment): void
  /** It is too long to be kept. What came so far; the rest is still in the source. */
  tooLong(chunks: readonly Buffer[]): void
}

/** Reads a body to its end. @returns can stop the reading for a time */
export function collectBody(source: IncomingMessage, reader: BodyReader): { hold(wait: boolean): void } {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  let done = false
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    sizeBytes += chunk.length
    reader.chunk(chunk, momentNow())
    if (sizeBytes > longestBody) {
      finish()
      reader.tooLong(chunks)
    }
  }
  const onEnd = (): void => {
    finish()
    reader.whole(Buffer.concat(chunks), momentNow())
  }
  function finish(): void {
    done = true
    source.off('data', onData)
    source.off('end', onEnd)
  }
  source.on('data', onData)
  source.on('end', onEnd)
  return {
    hold(wait) {
      if (done) return
      if (wait) source.pause()
      else source.resume()
    },
  }
}

/** Its body has no content coding. */
export function isPlain({ headers }: IncomingMessage): boolean {
  return /^(identity)?$/i.test((headers['content-encoding'] ?? '').trim())
}

export function isJson(message: IncomingMessage): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(message.headers['content-type'] ?? '')
}

/** An event stream, perhaps with a content coding. */
export function isEvents(came: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(came.headers['content-type'] ?? '')
}

/** An event stream as it is: one with a content coding cannot be cut into events. */
export function isEventStream(came: IncomingMessage): boolean {
  return (
    came.statusCode === 200 && came.headers['content-length'] === undefined && isEvents(came) && isPlain(came)
  )
}

/** Undefined where the coding is not known here, or broken: nobody can look at the body then. */
export function withoutContentCoding(bytes: Buffer, coding = ''): Buffer | undefined {
  const limit = { maxOutputLength: longestBody }
  try {
    switch (coding.trim().toLowerCase()) {
      case '':
      case 'identity':
        return bytes
      case 'gzip':
      case 'x-gzip':
        return zlib.gunzipSync(bytes, limit)
      case 'deflate':
        return zlib.inflateSync(bytes, limit)
      case 'br':
        return zlib.brotliDecompressSync(bytes, limit)
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}

/** Headers of a body that has no content coding any more. */
export function withoutCoding(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (headers[n]!.toLowerCase() !== 'content-encoding') kept.push(headers[n]!, headers[n + 1]!)
  }
  return kept
}
