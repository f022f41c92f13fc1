import { randomUUID } from 'node:crypto'
import type { EventLog } from '../server/event-log.js'
import { createEventStream, type EventStream } from '../server/event-stream.js'
import type { Party, Talk } from './talk.js'

/** A session of the legacy era, over HTTP. */
export interface HttpSession extends Party {
  readonly id: string
  readonly talk: Talk
  /** What is said beside all answers. */
  readonly stream: EventStream
  usedMs: number
  /** A stream for the answers to a POST. */
  readonly newStream: () => EventStream
  /** The stream that an event belongs to, and the event's number in it. Undefined for what is not known any more. */
  findEvent(eventId: string): { readonly stream: EventStream; readonly number: number } | undefined
  /** It is over. */
  end(): void
}

export interface HttpSessionOptions {
  readonly talk: Talk
  readonly log: EventLog
  /** A client that does not read has lost its connection. */
  readonly onCut: () => void
  /** A message for the client that it did not get, and cannot get any more. */
  readonly onUnheard: (session: string, text: string) => void
}

export function createHttpSession({ talk, log, onCut, onUnheard }: HttpSessionOptions): HttpSession {
  const id = randomUUID()
  const streams = new Map<number, EventStream>()
  let count = 0

  function newStream(): EventStream {
    const name = (count += 1)
    const stream = createEventStream({
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
      // What a session says by itself goes on in any case; a stream without its answer helps nobody.
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
