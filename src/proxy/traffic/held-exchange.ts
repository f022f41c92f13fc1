import zlib from 'node:zlib'
import type { HttpEvent, ArrivalTime } from '../../transports/index.js'
import { headerOf, mediaTypeOf, pairsOf } from '../http-exchange.js'
import type { HttpHeaders } from '../../model/index.js'

/** Bytes of each body that are inspected. */
export const longestLook = 256 * 1024
/** Most bytes that an encoded body may decompress to. */
const mostDecoded = 4 * longestLook

type Begin = Extract<HttpEvent, { kind: 'request' }>

/** An exchange whose recording is undecided, with all its events. */
export class HeldExchange {
  readonly began: ArrivalTime
  readonly method: string
  readonly url: URL
  readonly headers: HttpHeaders
  readonly mediaType: string
  #events: HttpEvent[] = []
  /** Bytes of the bodies in it. */
  sizeBytes = 0
  requestEnded = false
  over = false
  status: number | undefined
  responseHeaders: HttpHeaders = []
  #request: Buffer[] = []
  #response: Buffer[] = []
  #ended = 0

  constructor(event: Begin, url: URL) {
    this.began = { atMs: event.atMs, wallMs: event.wallMs }
    this.method = event.method
    this.url = url
    this.headers = pairsOf(event.headers)
    this.mediaType = mediaTypeOf(this.headers)
  }

  add(event: HttpEvent): void {
    if ('bytes' in event) {
      const bytes = Buffer.from(event.bytes)
      this.#events.push({ ...event, bytes })
      this.sizeBytes += bytes.length
      const pieces = event.kind === 'request-body' ? this.#request : this.#response
      if (sizeOf(pieces) <= longestLook) pieces.push(bytes)
      return
    }
    this.#events.push(event)
    if (event.kind === 'response') {
      this.status = event.status
      this.responseHeaders = pairsOf(event.headers)
    }
    if (event.kind === 'request-end') this.requestEnded = true
    if (event.kind === 'request-end' || event.kind === 'response-end') this.#ended += 1
    this.over = event.kind === 'failed' || this.#ended === 2
  }

  /** Returns the kept events in order, with their own bytes, and keeps them no longer. */
  release(): HttpEvent[] {
    const events = this.#events
    this.#events = []
    this.sizeBytes = 0
    return events
  }

  header(name: string): string | undefined {
    return headerOf(this.headers, name)
  }

  responseHeader(name: string): string | undefined {
    return headerOf(this.responseHeaders, name)
  }

  /** The body of the request so far. */
  get requestText(): string {
    return bodyText(this.#request, this.header('content-encoding'))
  }

  get requestBytes(): number {
    return sizeOf(this.#request)
  }

  get responseText(): string {
    return bodyText(this.#response, this.responseHeader('content-encoding'))
  }
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

function bodyText(pieces: readonly Buffer[], coding: string | undefined): string {
  return decoded(Buffer.concat(pieces), (coding ?? '').trim().toLowerCase())?.toString('utf8') ?? ''
}

/** Undefined when the bytes cannot be decoded. */
function decoded(bytes: Buffer, coding: string): Buffer | undefined {
  const options = { maxOutputLength: mostDecoded, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  try {
    if (coding === '' || coding === 'identity') return bytes
    if (coding === 'gzip' || coding === 'x-gzip' || coding === 'deflate')
      return zlib.unzipSync(bytes, options)
    if (coding === 'br') return zlib.brotliDecompressSync(bytes, { maxOutputLength: mostDecoded })
  } catch {
    // The bytes are incomplete or invalid.
  }
  return undefined
}
