import type { ServerResponse } from 'node:http'
import { readEnvelope, statusOfError } from '../../wire/index.js'
import { openEvents, type EventResponse } from '../../link/index.js'
import type { Outgoing, Sink } from '../sink.js'

/** A request whose answer takes longer is shown at once that there will be one. */
const silentMs = 100

export interface RequestSinkOptions {
  readonly response: ServerResponse
  /** Requests in the body, each of which gets an answer. */
  readonly requests: number
  /** Exact text of a body of 2026-07-28. */
  readonly modern: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The response of a POST: one JSON object, where nothing comes before the answer and it was no event when it was
 * recorded; else an event stream, which ends with the last answer. It begins with the first thing that is said, or
 * after a while if nobody knows that the answer will come in one piece.
 */
export function createRequestSink({ response, requests, modern, headers }: RequestSinkOptions): Sink {
  let stream: EventResponse | undefined
  let left = requests
  const timer = setTimeout(() => open(), silentMs)
  response.once('close', () => clearTimeout(timer))

  function open(): EventResponse {
    clearTimeout(timer)
    return (stream ??= openEvents(response, headers))
  }

  function statusOf({ status, text }: Outgoing): number {
    if (status !== undefined) return status
    if (modern === undefined) return 200
    const { kind, errorCode } = readEnvelope(text, 0)
    return statusOfError(kind === 'error' ? errorCode : undefined, modern)
  }

  return {
    get isOpen() {
      return !response.destroyed && !response.writableEnded
    },
    async send(message) {
      if (response.destroyed || response.writableEnded || message.noise) return
      if (message.final) left -= 1
      if (!stream && message.final && requests === 1 && !message.streamed) {
        clearTimeout(timer)
        response.writeHead(statusOf(message), { 'Content-Type': 'application/json', ...headers })
        response.end(message.text)
        return
      }
      const written = open().event('message', message.text)
      if (left === 0) open().end()
      await written
    },
    refuse({ status, text }) {
      if (requests > 1 || response.headersSent) return false
      clearTimeout(timer)
      if (response.destroyed) return true
      response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
      response.end(text)
      return true
    },
    inOnePiece() {
      if (requests === 1) clearTimeout(timer)
    },
    cut: () => void response.destroy(),
  }
}
