import type { GateEntry } from '../intercept/index.js'
import {
  createRecent,
  type Direction,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
} from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { createGateBook, noteOf } from './gate-book.js'
import type { HttpExchange } from './http-exchange.js'
import type { ExchangeTalk, HttpMessages } from './http-messages.js'
import type { Moment } from './stamp.js'
import type { Stamp } from './stamp.js'

/** Concurrent exchanges that are remembered. */
export const mostExchanges = 50_000

type JudgedMessage = Extract<GateEntry, { kind: 'judge' }>

/** Decisions at the gate about messages of HTTP exchanges. */
export interface HttpGate {
  /** Whether decisions wait for their messages. */
  hasJudged(): boolean
  /** Takes the decision about the next message of one side of an exchange. */
  takeJudged(exchange: number, direction: Direction): JudgedMessage | undefined
  judge(message: MessageRecord, judged: JudgedMessage, exchange: HttpExchange): MessageRecord | HeldRecord
  /** The record of an entry, if it has one. */
  enter(entry: GateEntry, at: Moment): TapeRecord | undefined
}

export interface HttpGateOptions {
  readonly redactor: Redactor
  readonly messages: HttpMessages
  /** Running exchanges by number. */
  readonly exchanges: ReadonlyMap<number, HttpExchange>
  readonly stamp: (at: Moment) => Stamp
  /** Whether a previous recording thread may have recorded held messages. */
  readonly resumed: boolean
}

export function createHttpGate(options: HttpGateOptions): HttpGate {
  const { redactor, messages, exchanges, stamp, resumed } = options
  const book = createGateBook(
    redactor,
    ({ direction, conversation = '', http }, part, newId) => {
      messages.rename(exchanges.get(http?.exchange ?? -1), { part, direction, conversation }, newId)
    },
    resumed,
  )
  const judged = new Map<string, JudgedMessage>()
  /** Exchanges with a held response. The client's replacement comes after the server's end of the exchange. */
  const withheld = createRecent<ExchangeTalk, number>({ entries: mostExchanges })
  const sideOf = (exchange: number, direction: Direction): string => `${exchange} ${direction}`

  return {
    hasJudged: () => judged.size > 0,
    takeJudged(exchange, direction) {
      if (judged.size === 0) return undefined
      const side = sideOf(exchange, direction)
      const entry = judged.get(side)
      judged.delete(side)
      return entry
    },
    judge(message, entry, { number, conversation, requests }) {
      if (entry.decision.verdict === 'hold' && message.direction === 'server_to_client' && !message.sse) {
        withheld.set(number, { number, conversation, requests })
      }
      return book.judged(message, entry)
    },
    enter(entry, at) {
      switch (entry.kind) {
        case 'judge': {
          const { place } = entry
          if (!('exchange' in place)) return undefined
          if (judged.size >= mostExchanges) judged.delete(judged.keys().next().value!)
          judged.set(sideOf(place.exchange, place.direction), entry)
          return undefined
        }
        case 'settle':
          return book.settled(entry, stamp(at))
        case 'note':
          return noteOf(entry, stamp(at), redactor)
        case 'inject': {
          const { id, direction, text, rule } = entry
          const number = entry.exchange ?? -1
          const exchange = exchanges.get(number) ?? withheld.get(number)
          const frame = exchange && messages.read(exchange, Buffer.from(text), direction, id)
          if (!frame) return undefined
          return {
            type: 'message',
            ...stamp(at),
            direction,
            ...frame,
            conversation: exchange.conversation,
            http: { exchange: exchange.number },
            injected: true,
            ...(rule !== undefined && { rule }),
          }
        }
      }
    },
  }
}
