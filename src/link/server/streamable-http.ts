import type { ServerResponse } from 'node:http'
import { readEnvelope, statusOfError } from '../../wire/index.js'
import type { ServerLink, ServerMessage } from '../link.js'
import { openEvents, type EventResponse } from './sse-response.js'

/** After this time without a response, an event stream is opened as a sign that one will come. In milliseconds. */
const silentMs = 100

export interface PostLinkOptions {
  readonly response: ServerResponse
  /** Number of requests in the body, each of which gets a response. */
  readonly requests: number
  /** Exact text of a 2026-07-28 body. */
  readonly modern: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The server's end of a POST. The HTTP response is one JSON object if no message precedes the JSON-RPC response and
 * that response was not recorded as an event. Otherwise it is an event stream, which ends with the last response. The
 * stream begins with the first message, or after a while if it is unknown whether the response comes in one piece.
 */
export class PostLink implements ServerLink {
  readonly #options: PostLinkOptions
  readonly #timer: NodeJS.Timeout
  #stream: EventResponse | undefined
  #left: number

  constructor(options: PostLinkOptions) {
    this.#options = options
    this.#left = options.requests
    this.#timer = setTimeout(() => this.#open(), silentMs)
    options.response.once('close', () => clearTimeout(this.#timer))
  }

  get isOpen(): boolean {
    const { response } = this.#options
    return !response.destroyed && !response.writableEnded
  }

  async send(message: ServerMessage): Promise<void> {
    if (!this.isOpen || message.noise) return
    if (message.final) this.#left -= 1
    if (!this.#stream && message.final && this.#options.requests === 1 && !message.streamed) {
      const { response, headers } = this.#options
      clearTimeout(this.#timer)
      response.writeHead(this.#statusOf(message), { 'Content-Type': 'application/json', ...headers })
      response.end(message.text)
      return
    }
    const written = this.#open().event('message', message.text)
    if (this.#left === 0) this.#open().end()
    await written
  }

  refuse({ status, text }: { readonly status: number; readonly text: string }): boolean {
    const { response, requests } = this.#options
    if (requests > 1 || response.headersSent) return false
    clearTimeout(this.#timer)
    if (response.destroyed) return true
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
    response.end(text)
    return true
  }

  inOnePiece(): void {
    if (this.#options.requests === 1) clearTimeout(this.#timer)
  }

  cut(): void {
    this.#options.response.destroy()
  }

  #open(): EventResponse {
    clearTimeout(this.#timer)
    return (this.#stream ??= openEvents(this.#options.response, this.#options.headers))
  }

  #statusOf({ status, text }: ServerMessage): number {
    const { modern } = this.#options
    if (status !== undefined) return status
    if (modern === undefined) return 200
    const { kind, errorCode } = readEnvelope(text, 0)
    return statusOfError(kind === 'error' ? errorCode : undefined, modern)
  }
}
