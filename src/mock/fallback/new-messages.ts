import { createIntColumn, createNumberColumn, type Direction } from '../../model/index.js'
import { createTextStore } from '../../tape/index.js'

/** A message between a client and the real server. */
export interface NewMessage {
  /** Exact text. */
  readonly text: string
  readonly direction: Direction
  /** Number of the live conversation: ids are valid within one only. */
  readonly live: number
  /** Number of the recorded message before it. */
  readonly place: number
  /** Time on a monotonic clock. */
  readonly atMs: number
}

/** About 40 bytes per message; texts need not fit into memory. */
export interface NewMessages {
  /** Returns the message's number. */
  add(message: NewMessage): number
  /** Leaves the message out. */
  remove(number: number): void
  /** Sorted by place; messages with the same place in order of arrival. */
  inOrder(): Generator<NewMessage, void, undefined>
  close(): void
}

export function createNewMessages(): NewMessages {
  const texts = createTextStore()
  /** 1 for messages of the client. */
  const fromClient = createIntColumn()
  const lives = createIntColumn()
  const places = createIntColumn()
  const times = createNumberColumn()
  const removed = new Set<number>()
  return {
    add({ text, direction, live, place, atMs }) {
      texts.add(text)
      fromClient.push(direction === 'client_to_server' ? 1 : 0)
      lives.push(live)
      places.push(place)
      times.push(atMs)
      return times.length - 1
    },
    remove: (number) => void removed.add(number),
    *inOrder() {
      const order = Int32Array.from({ length: places.length }, (_, i) => i)
      order.sort((a, b) => places.get(a) - places.get(b) || a - b)
      for (const i of order) {
        if (removed.has(i)) continue
        yield {
          text: texts.read(i),
          direction: fromClient.get(i) === 1 ? 'client_to_server' : 'server_to_client',
          live: lives.get(i),
          place: places.get(i),
          atMs: times.get(i),
        }
      }
    },
    close: () => texts.close(),
  }
}
