import type { HttpRecord, MessageRecord } from '../../model/index.js'
import { idName } from './id-name.js'

/** Requests that were rejected by HTTP and sent again under their id, as clients do after authorization. */
export interface Resent {
  has(exchange: number | undefined, idText: string): boolean
}

/** Takes the records of a recording, in order. */
export interface ResentFinder extends Resent {
  see(record: MessageRecord | HttpRecord): void
}

export function createResentFinder(): ResentFinder {
  /** Ids of requests by their exchange, until it is answered. */
  const waiting = new Map<number, Set<string>>()
  /** By id, the exchange whose response did not answer the request. */
  const turnedAway = new Map<string, number>()
  const resent = new Set<string>()

  function seeRequests(exchange: number, record: MessageRecord): void {
    for (const { envelope } of record.parts) {
      if (envelope.kind !== 'request' || envelope.id === undefined) continue
      const name = idName(envelope.id)
      const before = turnedAway.get(name)
      if (before !== undefined) resent.add(`${before} ${name}`)
      turnedAway.delete(name)
      const names = waiting.get(exchange) ?? new Set()
      waiting.set(exchange, names.add(name))
    }
  }

  function conclude(exchange: number, status: number | undefined): void {
    if (status === undefined || status >= 400) {
      for (const name of waiting.get(exchange) ?? []) turnedAway.set(name, exchange)
    }
    waiting.delete(exchange)
  }

  return {
    see(record) {
      if (record.type === 'http') {
        conclude(record.exchange, record.status)
        return
      }
      const { http } = record
      if (!http) return
      if (record.direction === 'client_to_server') {
        seeRequests(http.exchange, record)
        return
      }
      const names = waiting.get(http.exchange)
      if (!names) return
      for (const { envelope } of record.parts) {
        if (envelope.method === undefined && envelope.id !== undefined) names.delete(idName(envelope.id))
      }
      if (names.size === 0) waiting.delete(http.exchange)
      else if (http.status !== undefined && http.status >= 400) conclude(http.exchange, http.status)
    },
    has: (exchange, idText) => resent.has(`${exchange} ${idName(idText)}`),
  }
}
