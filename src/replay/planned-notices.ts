import { createIntColumn, type Column, type MessageRecord } from '../model/index.js'

/** A notification of the server after which a client may have continued. */
export interface PlannedNotice {
  readonly row: number
  readonly method: string
}

/** Unasked notifications of a server, by connection. */
export interface PlannedNotices {
  /** In order. @param number from 0 */
  at(connection: string, number: number): PlannedNotice | undefined
}

export interface NoticesDraft {
  /** The next record of a conversation, whose first message is in this row. */
  take(record: MessageRecord, row: number, talk: number): void
  /** @param connectionOf the name of a conversation's connection */
  finish(connectionOf: (talk: number) => string): PlannedNotices
}

/** These belong to a request, whose response is awaited anyway. */
const ofRequests: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/cancelled'])

/** If more time has passed since the last message, a server's notification was not caused by the client. */
const longestEffectUs = 2_000_000

export function createPlannedNotices(): NoticesDraft {
  const rows = createIntColumn()
  const talks = createIntColumn()
  const methods = createIntColumn()
  const names: string[] = []
  const numbers = new Map<string, number>()
  /** By conversation: when the client last sent a message or got a response. */
  const spokenUs = new Map<number, number>()

  function methodNumber(name: string): number {
    let number = numbers.get(name)
    if (number === undefined) numbers.set(name, (number = names.push(name) - 1))
    return number
  }

  return {
    take(record, first, talk) {
      // Not sent by the server, but by the recorder or a person.
      if (record.injected) return
      const us = record.us ?? Date.parse(record.t) * 1000
      const isOfClient = record.direction === 'client_to_server'
      for (const [part, { envelope }] of record.parts.entries()) {
        const { kind, method } = envelope
        if (isOfClient || kind !== 'notification') spokenUs.set(talk, us)
        else if (method !== undefined && !ofRequests.has(method)) {
          if (!saysOfChange(method) && us - (spokenUs.get(talk) ?? -Infinity) > longestEffectUs) continue
          rows.push(first + part)
          talks.push(talk)
          methods.push(methodNumber(method))
        }
      }
    },
    finish(connectionOf) {
      const byConnection = new Map<string, Column>()
      for (let i = 0; i < rows.length; i += 1) {
        const connection = connectionOf(talks.get(i))
        let list = byConnection.get(connection)
        if (!list) byConnection.set(connection, (list = createIntColumn()))
        list.push(i)
      }
      return {
        at(connection, number) {
          const i = byConnection.get(connection)?.get(number) ?? -1
          return i < 0 ? undefined : { row: rows.get(i), method: names[methods.get(i)]! }
        },
      }
    },
  }
}

/** Whether some request of the client may get another response from now on. */
export function saysOfChange(method: string): boolean {
  return method.endsWith('/list_changed') || method === 'notifications/resources/updated'
}
