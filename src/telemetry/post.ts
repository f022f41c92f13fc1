import http from 'node:http'
import https from 'node:https'
import { gzip } from 'node:zlib'
import type { Target } from './settings.js'
import { readReply } from './reply.js'

/** The outcome of one POST. */
export type Posted =
  /** Accepted, though the receiver may have rejected a part. */
  | { readonly kind: 'taken'; readonly rejected: number; readonly why?: string }
  /** Worth retrying: according to the specification 429, 502, 503, 504, and no response. */
  | {
      readonly kind: 'again'
      readonly why: string
      /** The pause that the receiver asks for. */
      readonly afterMs?: number
      /** No response came: there may be no receiver. */
      readonly isUnreachable: boolean
    }
  | { readonly kind: 'refused'; readonly why: string }

export interface Poster {
  /** Never rejects. */
  post(body: Uint8Array): Promise<Posted>
  close(): void
}

/** Bytes of a response that are read at most. */
const mostReplyBytes = 64 * 1024
const retried = new Set([429, 502, 503, 504])
/** Receivers may ask for hours; this is the limit. */
const longestPauseMs = 60_000

/** One persistent connection to a receiver. */
export function createPoster(target: Target, userAgent: string): Poster {
  const { compression, protocol, ca, certificate, key } = target
  const url = new URL(target.url)
  const isTls = url.protocol === 'https:'
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  }
  const agent = isTls
    ? new https.Agent({ keepAlive: true, maxSockets: 1, ...tls })
    : new http.Agent({ keepAlive: true, maxSockets: 1 })
  const contentType = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'

  async function post(body: Uint8Array): Promise<Posted> {
    const bytes = compression === 'gzip' ? await gzipped(body) : body
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const settle = (posted: Posted): void => {
        clearTimeout(timer)
        resolve(posted)
      }
      let request: http.ClientRequest
      try {
        request = (isTls ? https : http).request(url, {
          method: 'POST',
          agent,
          headers: {
            'User-Agent': userAgent,
            ...Object.fromEntries(target.headers),
            'Content-Type': contentType,
            'Content-Length': bytes.length,
            ...(compression === 'gzip' && { 'Content-Encoding': 'gzip' }),
          },
        })
      } catch (error) {
        // A header that HTTP does not allow.
        return settle({ kind: 'refused', why: reasonOf(error) })
      }
      const fail = (why: string): void => settle({ kind: 'again', why, isUnreachable: true })
      timer = setTimeout(() => {
        fail('no response in time')
        request.destroy()
      }, target.timeoutMs)
      request.on('error', (error) => fail(reasonOf(error)))
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        let size = 0
        const over = (): void => settle(postedOf(response, Buffer.concat(chunks)))
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size <= mostReplyBytes) return void chunks.push(chunk)
          over()
          response.destroy()
        })
        response.on('end', over)
        response.on('error', over)
        response.on('close', over)
      })
      request.end(bytes)
    })
  }

  function postedOf({ statusCode = 0, headers }: http.IncomingMessage, reply: Buffer): Posted {
    if (statusCode >= 200 && statusCode < 300) {
      const { rejected, message } = readReply(reply, headers['content-type'] ?? contentType)
      return { kind: 'taken', rejected, ...(message !== '' && { why: message }) }
    }
    const text = /^text\/plain|json/.test(headers['content-type'] ?? '') ? shown(reply.toString()) : ''
    const why = `HTTP ${statusCode}${text === '' ? '' : `: ${text}`}`
    if (!retried.has(statusCode)) return { kind: 'refused', why }
    const afterMs = pauseOf(headers['retry-after'])
    return { kind: 'again', why, isUnreachable: false, ...(afterMs !== undefined && { afterMs }) }
  }

  return { post, close: () => agent.destroy() }
}

function gzipped(body: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) =>
    gzip(body, (error, bytes) => (error ? reject(error) : resolve(bytes))),
  )
}

/** Seconds, or a date. */
function pauseOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(longestPauseMs, Math.max(0, ms))
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

/** The beginning of a receiver's text, on one line. */
function shown(text: string): string {
  return text.slice(0, 200).replaceAll(/\s+/g, ' ').trim()
}
