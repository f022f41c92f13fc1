import type { ServerResponse } from 'node:http'
import { isAnswer } from '../../model/index.js'
import { statusOfError, type Message } from '../../wire/index.js'
import type { EventStream } from './event-stream.js'

/** Where what a server says to the requests of one POST goes. */
export interface AnswerSink {
  /** False when only the answers themselves can be given. */
  readonly streams: boolean
  /** A message that comes before the answer. */
  message(text: string): void
  /** One that a request was waiting for. */
  answer(message: Message): void
}

export interface AnswerSinkOptions {
  readonly response: ServerResponse
  /** For what comes before the answers, and the answers behind it. */
  readonly stream: EventStream
  /** The client takes an event stream. */
  readonly acceptsEvents: boolean
  /** It is told at once how to take it up again, should it break. Else an answer that nothing comes before is JSON. */
  readonly primed: boolean
  /** Exact text of a request of 2026-07-28, which is alone in its POST. */
  readonly modern: string | undefined
  /** Requests that wait. */
  readonly requests: number
  /** The POST was an array. */
  readonly batch: boolean
  /** Session that an answer to `initialize` begins. */
  readonly session?: string
  /** An answer whose client has left. */
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
