import type { ServerResponse } from 'node:http'
import { isAnswer } from '../../model/index.js'
import { statusOfError, type Message } from '../../wire/index.js'
import type { EventStream } from './event-stream.js'

/** Receives a server's messages for the requests of one POST. */
export interface AnswerSink {
  /** False when only responses can be sent. */
  readonly streams: boolean
  /** A message that precedes the response. */
  message(text: string): void
  /** The response to one of the requests. */
  answer(message: Message): void
}

export interface AnswerSinkOptions {
  readonly response: ServerResponse
  /** The stream for messages before the responses, and for the responses after them. */
  readonly stream: EventStream
  /** Whether the client accepts an event stream. */
  readonly acceptsEvents: boolean
  /** Opens the stream at once, with a resumption id. Otherwise, a response that comes first is sent as JSON. */
  readonly primed: boolean
  /** Exact text of a 2026-07-28 request, which is alone in its POST. */
  readonly modern: string | undefined
  /** Number of open requests. */
  readonly requests: number
  /** Whether the POST was an array. */
  readonly batch: boolean
  /** Session id that the response to `initialize` assigns. */
  readonly session?: string
  /** A response whose client has disconnected. */
  onUnheard(text: string): void
}

export function createAnswerSink(options: AnswerSinkOptions): AnswerSink {
  const { response, stream, acceptsEvents, primed, modern, session, batch } = options
  let left = options.requests
  let streaming = false
  const answers: string[] = []

  function begin(): void {
    streaming = true
    stream.open(response, {
      primed,
      ...(session !== undefined && { headers: { 'Mcp-Session-Id': session } }),
    })
  }

  if (primed && acceptsEvents) begin()
  return {
    streams: acceptsEvents,
    message(text) {
      if (!streaming) begin()
      stream.message(text)
    },
    answer({ text, envelope }) {
      left -= 1
      if (streaming) {
        stream.message(text)
        if (left === 0) stream.end()
        return
      }
      answers.push(text)
      if (left > 0) return
      const isFirst = session !== undefined && envelope.kind === 'result'
      const status =
        modern !== undefined && isAnswer(envelope) ? statusOfError(envelope.errorCode, modern) : 200
      const tellUnheard = (): void => {
        if (!response.writableFinished) for (const answer of answers) options.onUnheard(answer)
      }
      if (response.destroyed) {
        tellUnheard()
        stream.end()
        return
      }
      response.once('close', tellUnheard)
      const body = Buffer.from(batch ? `[${answers.join(',')}]` : text)
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        ...(isFirst && { 'Mcp-Session-Id': session }),
      })
      response.end(body)
      stream.end()
    },
  }
}
