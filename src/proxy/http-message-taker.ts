import type { MessageLine, MessagePlace } from '../tape/index.js'
import type { Direction, MessageIds, MessageRecord, SseContext, TapeRecord } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { contextIn } from './http-context.js'
import type { HttpExchange } from './http-exchange.js'
import type { HttpGate } from './http-gate.js'
import type { HttpMessages } from './http-messages.js'
import type { Moment, Stamp } from './stamp.js'

/** Takes a plain message. Its line is valid until the next one. */
export type TakeHttpLine = (line: MessageLine, ids: MessageIds, place: MessagePlace) => void

interface TakerOptions {
  readonly redactor: Redactor
  readonly messages: HttpMessages
  readonly gate: HttpGate
  readonly stamp: (at: Moment) => Stamp
  /** Undefined when all records are needed. */
  readonly takeLine: TakeHttpLine | undefined
}

/** Records bodies and events as messages. */
export class HttpMessageTaker {
  readonly #options: TakerOptions

  constructor(options: TakerOptions) {
    this.#options = options
  }

  /** False when the body is not JSON-RPC. @param isPlain as `HttpMessages.read` */
  take(
    exchange: HttpExchange,
    body: Uint8Array | string,
    direction: Direction,
    sse: SseContext | undefined,
    at: Moment,
    take: (record: TapeRecord) => void,
    isPlain?: boolean,
  ): boolean {
    // Plain events took the short way before their text was made.
    if (typeof body !== 'string' && this.takePlain(exchange, body, direction, sse, at)) return true
    const { gate, messages, stamp, redactor } = this.#options
    const judged = gate.takeJudged(exchange.number, direction)
    const frame = messages.read(exchange, body, direction, judged?.id, isPlain)
    if (!frame) return false
    const message: MessageRecord = {
      type: 'message',
      ...stamp(at),
      direction,
      ...frame,
      conversation: exchange.conversation,
      http: contextIn(exchange, direction, redactor),
      ...(sse && { sse }),
    }
    take(judged ? gate.judge(message, judged, exchange) : message)
    return true
  }

  /** The short way of most messages, with the same line on the tape. False for all others. */
  takePlain(
    exchange: HttpExchange,
    bytes: Uint8Array,
    direction: Direction,
    sse: SseContext | undefined,
    at: Moment,
  ): boolean {
    const { gate, messages, stamp, redactor, takeLine } = this.#options
    if (!takeLine || gate.hasJudged()) return false
    const line = messages.readPlain(exchange, bytes, direction)
    if (!line) return false
    const { t, us } = stamp(at)
    line.t = t
    line.us = us
    const { conversation } = exchange
    takeLine(line, messages.ids, { conversation, http: contextIn(exchange, direction, redactor), sse })
    return true
  }
}
