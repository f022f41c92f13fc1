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
export class EventStream {
  readonly #options: EventStreamOptions
  readonly #kept: LoggedEvent[] = []
  #connection: ServerResponse | undefined
  #last = 0
  #sent = 0
  /** Number of the last event that the operating system accepted. */
  #taken = 0
  #ended = false
  #slow = false
  #queued = 0

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  /** Whether there is a connection. */
  get isOpen(): boolean {
    return this.#connection !== undefined && !this.#connection.destroyed
  }

  /** Whether all events after this one are still kept. */
  hasAllAfter(number: number): boolean {
    return number <= this.#last && (this.#kept[0]?.number ?? this.#last + 1) <= number + 1
  }

  /** Sends all unsent events in the response, then new ones. Replaces an earlier connection. */
  open(
    response: ServerResponse,
    { headers = {}, primed = false, after = this.#sent }: OpenOptions = {},
  ): void {
    const before = this.#connection
    this.#connection = response
    before?.end()
    this.#setSlow(false)
    beginEvents(response, headers)
    if (primed && this.#options.name !== undefined)
      response.write(`id: ${this.#options.name}-${after}\nretry: ${retryMs}\ndata: \n\n`)
    else response.flushHeaders()
    for (const event of this.#kept) if (event.number > after) this.#write(event)
    if (this.#ended) return void response.end()
    response.once('close', () => {
      if (this.#connection !== response) return
      this.#connection = undefined
      // A disconnected client is no longer slow.
      this.#setSlow(false)
    })
  }

  message(text: string): void {
    if (this.#ended) return
    this.#last += 1
    if (this.#slow && this.#queued > mostQueued) this.#cut()
    this.#write({ number: this.#last, text })
    if (this.#options.log) this.#keep(this.#last, text)
  }

  /** Ends the stream. */
  end(): void {
    this.#ended = true
    this.#connection?.end()
    if (this.#kept.length === 0) this.#options.onForgotten?.()
  }

  /** Drops the kept events. */
  forget(): void {
    const left = this.#kept.splice(0)
    for (const event of left) this.#options.log?.forget(event)
    const tell = (): void => {
      for (const { number, text } of left) if (number > this.#taken) this.#options.onUnheard(text)
    }
    // Events being written may still arrive.
    if (this.#connection && !this.#connection.destroyed) this.#connection.once('close', tell)
    else tell()
  }

  #setSlow(now: boolean): void {
    if (this.#slow === now) return
    this.#slow = now
    this.#options.onSlow(now)
  }

  #write({ number, text }: Pick<LoggedEvent, 'number' | 'text'>): void {
    if (!this.#connection || this.#connection.destroyed) {
      if (!this.#options.log) this.#options.onUnheard(text)
      return
    }
    this.#sent = Math.max(this.#sent, number)
    const event = eventText(
      'message',
      text,
      this.#options.name === undefined ? undefined : `${this.#options.name}-${number}`,
    )
    const isTaken = this.#connection.write(event, (error) => {
      if (!error) this.#taken = Math.max(this.#taken, number)
      else if (!this.#options.log) this.#options.onUnheard(text)
    })
    if (isTaken) return
    if (this.#slow) {
      this.#queued += text.length
      return
    }
    this.#queued = 0
    this.#setSlow(true)
    const full = this.#connection
    full.once('drain', () => {
      if (this.#connection === full) this.#setSlow(false)
    })
  }

  #cut(): void {
    const before = this.#connection
    this.#connection = undefined
    this.#setSlow(false)
    before?.destroy()
    this.#options.onCut()
  }

  #keep(number: number, text: string): void {
    const event: LoggedEvent = {
      number,
      text,
      onForgotten: () => {
        this.#kept.shift()
        if (number > this.#taken) this.#options.onUnheard(text)
        if (this.#ended && this.#kept.length === 0) this.#options.onForgotten?.()
      },
    }
    this.#kept.push(event)
    this.#options.log?.keep(event)
  }
}
