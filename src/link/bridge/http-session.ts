import { randomUUID } from 'node:crypto'
import type { EventLog } from '../server/event-log.js'
import { EventStream } from '../server/event-stream.js'
import type { Party, Talk } from './talk.js'

/** A legacy session over HTTP. */
export interface HttpSession extends Party {
  readonly id: string
  readonly talk: Talk
  /** The stream for messages outside of responses. */
  readonly stream: EventStream
  usedMs: number
  /** Creates a stream for the responses to a POST. */
  readonly newStream: () => EventStream
  /** The stream of an event, and the event's number in it. Undefined for events that are no longer kept. */
  findEvent(eventId: string): { readonly stream: EventStream; readonly number: number } | undefined
  /** Ends the session. */
  end(): void
}

export interface HttpSessionOptions {
  readonly talk: Talk
  readonly log: EventLog
  /** A client that does not read was disconnected. */
  readonly onCut: () => void
  /** A message for the client that it did not receive, and can no longer request. */
  readonly onUnheard: (session: string, text: string) => void
}

export function createHttpSession({ talk, log, onCut, onUnheard }: HttpSessionOptions): HttpSession {
  const id = randomUUID()
  const streams = new Map<number, EventStream>()
  let count = 0

  function newStream(): EventStream {
    const name = (count += 1)
    const stream = new EventStream({
      name,
      log,
      onSlow: (slow) => talk.hold(session, slow),
      onCut,
      onUnheard: (text) => onUnheard(id, text),
      onForgotten: () => streams.delete(name),
    })
    streams.set(name, stream)
    return stream
  }

  const own = newStream()
  const session: HttpSession = {
    id,
    talk,
    stream: own,
    usedMs: performance.now(),
    newStream,
    findEvent(eventId) {
      const [, name, last] = /^(\d{1,15})-(\d{1,15})$/.exec(eventId) ?? []
      const stream = streams.get(Number(name))
      const number = Number(last)
      // The session's own stream can continue after a gap, but a POST stream without its response is useless.
      return stream && (stream === own || stream.hasAllAfter(number)) ? { stream, number } : undefined
    },
    end() {
      for (const stream of streams.values()) {
        stream.end()
        stream.forget()
      }
      streams.clear()
    },
  }
  return session
}
