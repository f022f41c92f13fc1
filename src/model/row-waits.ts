import { createClientWaits } from './client-waits.js'
import type { EntryTable } from './entry-table.js'
import type { PlainMessage } from './plain-message.js'
import type { MessageRecord } from './record.js'

/** The needed parts of a message, with or without a record. */
type Told = Pick<MessageRecord, 'conversation' | 'http'> | PlainMessage

/** Computes how long a server waited for its client before it answered. Takes rows in order. */
export interface RowWaits {
  /** A new session. */
  begin(): void
  requested(row: number, method: string | undefined, message: Told): void
  answered(request: number, answer: number, message: Told): void
  /** The row `end` ends the task of an answered call. */
  taskEnded(this: void, call: number, end: number, message: Told): void
  /** Row `by` cancels the request. */
  cancelled(request: number, by: number): void
}

export function createRowWaits(entries: EntryTable): RowWaits {
  // A server may ask while it answers a request about the call's task.
  const waits = createClientWaits((row) => entries.linked(row))

  /** The time when the other side received it. */
  function passedOnUs(row: number): number {
    return entries.us(row) + entries.heldUs(row)
  }

  return {
    begin: () => waits.begin(),
    requested(row, method, message) {
      const exchange = exchangeOf(message)
      if (!entries.has(row, 'fromServer')) {
        if (exchange >= 0) waits.carried(exchange, row)
        return
      }
      // A server that pings its client continues to work meanwhile.
      if (method === 'ping' || entries.has(row, 'injected') || entries.has(row, 'untimed')) return
      waits.asked(row, entries.us(row), { exchange, conversation: conversationOf(message) })
    },
    answered(request, answer, message) {
      if (entries.has(request, 'fromServer')) return waits.ended(request, passedOnUs(answer))
      const us = waits.within(request, passedOnUs(request), entries.us(answer), () => conversationOf(message))
      if (us > 0) entries.setWaited(answer, us)
    },
    taskEnded(call, end, message) {
      if (entries.has(call, 'fromServer')) return
      const us = waits.within(call, passedOnUs(call), entries.us(end), () => conversationOf(message))
      if (us > 0) entries.setWaited(entries.peer(call), us)
    },
    cancelled: (request, by) => waits.ended(request, passedOnUs(by)),
  }
}

function exchangeOf(message: Told): number {
  return 'httpExchange' in message ? message.httpExchange : (message.http?.exchange ?? -1)
}

function conversationOf(message: Told): string {
  if (!('httpExchange' in message)) return message.conversation ?? ''
  const { bytes, conversationStart: start, conversationEnd: end } = message
  return start < 0 ? '' : String.fromCharCode(...bytes.subarray(start, end))
}
