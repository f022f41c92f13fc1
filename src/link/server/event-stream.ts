import type { ServerResponse } from 'node:http'
import type { EventLog, LoggedEvent } from './event-log.js'
import { beginEvents, eventText } from './sse-response.js'

/** Characters that may wait for a client that does not read, after the message at which it stopped. */
const mostQueued = 8 * 1024 * 1024
/** The delay that 2025-11-25 clients observe before they reopen a stream, in milliseconds. */
const retryMs = 1_000

export interface EventStreamOptions {
  /** Number of the stream in its session, for streams that can be resumed. */
  readonly name?: number
  readonly log?: EventLog
  /** A slow client slows the server, unless other clients need it. */
  readonly onSlow: (slow: boolean) => void
  /** A client was disconnected because too much was waiting for it. */
  readonly onCut: () => void
  /** A message that no client received, and none can request any more. */
  readonly onUnheard: (text: string) => void
  /** The stream can no longer be resumed. */
  readonly onForgotten?: () => void
}

export interface OpenOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Sends an event without data first, which tells the client where to resume a silent stream (2025-11-25). */
  readonly primed?: boolean
  /** Number of the last event that the client has received. @default the last one sent */
  readonly after?: number
}

/** Events for a client. The stream outlives its connection; messages wait meanwhile. */
export interface EventStream {
  /** Whether there is a connection. */
  readonly isOpen: boolean
  /** Whether all events after this one are still kept. */
  hasAllAfter(number: number): boolean
  /** Sends all unsent events in the response, then new ones. Replaces an earlier connection. */
  open(response: ServerResponse, options?: OpenOptions): void
  message(text: string): void
  /** Ends the stream. */
  end(): void
  /** Drops the kept events. */
  forget(): void
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { name, log, onSlow, onCut, onUnheard, onForgotten } = options
  const kept: LoggedEvent[] = []
  let connection: ServerResponse | undefined
  let last = 0
  let sent = 0
  /** Number of the last event that the operating system accepted. */
  let taken = 0
  let ended = false
  let slow = false
  let queued = 0

  function setSlow(now: boolean): void {
    if (slow === now) return
    slow = now
    onSlow(now)
  }

  function write({ number, text }: Pick<LoggedEvent, 'number' | 'text'>): void {
    if (!connection || connection.destroyed) {
      if (!log) onUnheard(text)
      return
    }
    sent = Math.max(sent, number)
    const event = eventText('message', text, name === undefined ? undefined : `${name}-${number}`)
    const isTaken = connection.write(event, (error) => {
      if (!error) taken = Math.max(taken, number)
      else if (!log) onUnheard(text)
    })
    if (isTaken) return
    if (slow) {
      queued += text.length
      return
    }
    queued = 0
    setSlow(true)
    const full = connection
    full.once('drain', () => {
      if (connection === full) setSlow(false)
    })
  }

  function cut(): void {
    const before = connection
    connection = undefined
    setSlow(false)
    before?.destroy()
    onCut()
  }

  function keep(number: number, text: string): void {
    const event: LoggedEvent = {
      number,
      text,
      onForgotten() {
        kept.shift()
        if (number > taken) onUnheard(text)
        if (ended && kept.length === 0) onForgotten?.()
      },
    }
    kept.push(event)
    log?.keep(event)
  }

  return {
    get isOpen() {
      return connection !== undefined && !connection.destroyed
    },
    hasAllAfter: (number) => number <= last && (kept[0]?.number ?? last + 1) <= number + 1,
    open(response, { headers = {}, primed = false, after = sent } = {}) {
      const before = connection
      connection = response
      before?.end()
      setSlow(false)
      beginEvents(response, headers)
      if (primed && name !== undefined) response.write(`id: ${name}-${after}\nretry: ${retryMs}\ndata: \n\n`)
      else response.flushHeaders()
      for (const event of kept) if (event.number > after) write(event)
      if (ended) return void response.end()
      response.once('close', () => {
        if (connection !== response) return
        connection = undefined
        // A disconnected client is no longer slow.
        setSlow(false)
      })
    },
    message(text) {
      if (ended) return
      last += 1
      if (slow && queued > mostQueued) cut()
      write({ number: last, text })
      if (log) keep(last, text)
    },
    end() {
      ended = true
      connection?.end()
      if (kept.length === 0) onForgotten?.()
    },
    forget() {
      const left = kept.splice(0)
      for (const event of left) log?.forget(event)
      const tell = (): void => {
        for (const { number, text } of left) if (number > taken) onUnheard(text)
      }
      // Events being written may still arrive.
      if (connection && !connection.destroyed) connection.once('close', tell)
      else tell()
    },
  }
}
