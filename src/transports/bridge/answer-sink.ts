import type { ServerResponse } from 'node:http'
import { isAnswer } from '../../model/index.js'
import type { BridgedMessage } from './message-lines.js'

/** Where what a server says to one POST, or to a GET, goes. */
export interface AnswerSink {
  /** False when only the answer itself can be given. */
  readonly streams: boolean
  /** A message that comes before the answer, or beside all answers. */
  message(text: string): void
  /** One that a request was waiting for. */
  answer(message: BridgedMessage): void
  /** Ends a stream. */
  end(): void
}

export interface AnswerSinkOptions {
  readonly response: ServerResponse
  /** The client takes an event stream. */
  readonly acceptsEvents: boolean
  readonly modern: boolean
  /** Requests that wait; 0 for a stream that stays. */
  readonly requests: number
  /** The POST was an array. */
  readonly batch: boolean
  /** Session that an answer to `initialize` begins. */
  readonly session?: string
  /** A slow client slows the server. */
  readonly onSlow: (slow: boolean) => void
}

/** Statuses that go together with errors (2026-07-28). */
const statusOf: Readonly<Record<string, number>> = {
  '-32601': 404,
  '-32602': 400,
  '-32020': 400,
  '-32021': 400,
  '-32022': 400,
}

export function createAnswerSink(options: AnswerSinkOptions): AnswerSink {
  const { response, modern, session, batch } = options
  let left = options.requests
  let streaming = false
  let slow = false
  const answers: string[] = []

  function begin(): void {
    streaming = true
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
      ...(session !== undefined && { 'Mcp-Session-Id': session }),
    })
    response.flushHeaders()
  }

  function write(text: string): void {
    if (response.destroyed || response.write(`event: message\ndata: ${text}\n\n`)) return
    setSlow(true)
    response.once('drain', () => setSlow(false))
  }

  function setSlow(now: boolean): void {
    if (slow === now) return
    slow = now
    options.onSlow(now)
  }
  // Whoever left is not slow any more.
  response.once('close', () => setSlow(false))

  if (options.requests === 0) begin()
  return {
    streams: options.acceptsEvents,
    message(text) {
      if (!streaming) begin()
      write(text)
    },
    answer({ text, envelope }) {
      left -= 1
      if (streaming) {
        write(text)
        if (left === 0) response.end()
        return
      }
      answers.push(text)
      if (left > 0) return
      const isFirst = session !== undefined && envelope.kind === 'result'
      const status = modern && isAnswer(envelope) ? (statusOf[envelope.errorCode ?? ''] ?? 200) : 200
      const body = Buffer.from(batch ? `[${answers.join(',')}]` : text)
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        ...(isFirst && { 'Mcp-Session-Id': session }),
      })
      response.end(body)
    },
    end: () => void response.end(),
  }
}
