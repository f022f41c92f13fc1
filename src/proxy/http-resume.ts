import type { HttpExchange } from './http-exchange.js'
import { isCoded, isStream, type OpenExchange } from './open-exchanges.js'

const missing = 'its beginning was lost with a recording thread'

/**
 * Continues an exchange that began before this recording thread. Messages that are complete from here on are
 * recorded as usual.
 *
 * @param exchange a newly created exchange, including its response
 */
export function goOnWith(exchange: HttpExchange, before: OpenExchange): void {
  exchange.requestTold = true
  exchange.requestRead = before.requestBytes > 0 || before.requestEnded
  exchange.requestEnded = before.requestEnded
  exchange.responseEnded = before.responseEnded
  const { response } = exchange
  if (!response || !before.response) return
  response.told = true
  if (before.responseBytes === 0) return
  if (!isStream(before.response) || isCoded(before.response)) response.opaque = missing
  else if (before.cut !== 'event') {
    // The rest of the truncated event becomes a separate event, which is not recorded.
    response.events?.push(Buffer.from(before.cut === 'line' ? ':\n' : ':'))
    response.isCut = true
  }
}
