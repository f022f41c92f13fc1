import type { IncomingMessage, ServerResponse } from 'node:http'
import { SseParser, longestMessage, type EventPassage } from '../../wire/index.js'
import type { BodyChange, BodyFlow, FlowObserver } from './body-flow.js'
import type { ExchangeHead, Gatekeeper } from './gatekeeper.js'
import { pairsOf } from './hop-headers.js'
import { momentNow, type ArrivalTime } from './http-event.js'

/** A response with an event stream. Chunks pass unchanged, or event by event while a gatekeeper wants to see them. */
export interface EventFlow extends BodyFlow {
  /** Sends our own event between two others. False when the stream is over. */
  inject(text: string): boolean
}

export interface EventFlowOptions {
  readonly head: ExchangeHead
  readonly change: BodyChange | undefined
  gatekeeper(): Gatekeeper | undefined
  disconnect(why: string): void
  /** Everything was forwarded, including the end. */
  passed(): void
}

export function createEventFlow(
  source: IncomingMessage,
  destination: ServerResponse,
  observer: FlowObserver,
  options: EventFlowOptions,
): EventFlow {
  return new SseFlow(source, destination, observer, options)
}

class SseFlow implements EventFlow {
  readonly #options: EventFlowOptions
  readonly #destination: ServerResponse
  readonly #source: IncomingMessage
  readonly #observer: FlowObserver
  readonly #change
  readonly #head
  #blocked = false
  #held = false
  /** The gatekeeper can hold no more. */
  #full = false
  #finished = false
  #ended = false
  #holding = 0
  /** The last written bytes. Between two events they end with a blank line, or are empty. */
  #tail = ''
  #parser: SseParser | undefined
  /** Bytes of the incomplete event while events are inspected, and the position in the parser's stream. */
  #pending: Buffer[] = []
  #pendingBytes = 0
  #parsedBytes = 0
  #waiting: (() => void)[] = []
  readonly #atBoundary = (): boolean => this.#tail === '' || /(\n\n|\r\n\r\n|\r\r)$/.test(this.#tail)

  constructor(
    source: IncomingMessage,
    destination: ServerResponse,
    observer: FlowObserver,
    options: EventFlowOptions,
  ) {
    this.#options = options
    this.#destination = destination
    this.#source = source
    this.#observer = observer
    const { change, head } = options
    this.#change = change
    this.#head = head

    source.on('data', this.#onData)
    source.on('end', this.#onEnd)
    destination.on('drain', this.#onDrain)
  }

  hasBegun(): boolean {
    return this.#tail !== '' || this.#ended
  }

  hold(wait: boolean): void {
    this.#held = wait
    this.#steer()
  }

  stop(): void {
    if (this.#finished) return
    this.#finished = true
    this.#source.off('data', this.#onData)
    this.#source.off('end', this.#onEnd)
    this.#destination.off('drain', this.#onDrain)
    this.#source.resume()
  }

  salvage(): void {
    if (this.#finished) return
    this.#source.off('data', this.#onData)
    const left: unknown = this.#source.read()
    if (left instanceof Buffer) this.#onData(left)
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#tail = (this.#tail + Buffer.from(bytes.subarray(-4)).toString('latin1')).slice(-4)
    if (!this.#destination.write(bytes)) {
      this.#blocked = true
      this.#steer()
    }
    if (this.#waiting.length > 0 && this.#atBoundary()) {
      const steps = this.#waiting
      this.#waiting = []
      for (const step of steps) step()
    }
  }

  #steer(): void {
    if (this.#finished) return
    if (this.#blocked || this.#held || this.#full) this.#source.pause()
    else this.#source.resume()
  }

  #waitForRoom(keeper: Gatekeeper | undefined): void {
    if (this.#full || !keeper?.mustWait(this.#head, () => this.#goOn())) return
    this.#full = true
    this.#steer()
  }

  #goOn(): void {
    this.#full = false
    this.#steer()
  }

  readonly #onData = (chunk: Buffer): void => {
    const moment = momentNow()
    const bytes = this.#change ? this.#change.push(chunk) : chunk
    if (bytes === chunk || bytes.equals(chunk)) return this.#takeBytes(chunk, moment)
    // A changed stream is not split into events; only the first event of a legacy stream is ever changed.
    if (this.#pendingBytes > 0) this.#passPending(moment)
    this.#parser = undefined
    const rest = bytes.subarray(firstBoundary(this.#tail, bytes))
    const came = chunk.length - rest.length
    const isWhole = rest.length > 0 && came >= 0 && chunk.subarray(came).equals(rest)
    this.#write(isWhole ? bytes.subarray(0, bytes.length - rest.length) : bytes)
    this.#observer.chunk(isWhole ? chunk.subarray(0, came) : chunk, moment)
    if (isWhole) this.#takeBytes(rest, moment)
  }

  #passPending(moment: ArrivalTime): void {
    const rest = this.#takeBlock(this.#pendingBytes)
    this.#write(rest)
    this.#observer.chunk(rest, moment)
  }

  /** Bytes that pass unchanged. */
  #takeBytes(bytes: Buffer, moment: ArrivalTime): void {
    const keeper = this.#options.gatekeeper()
    if (!keeper?.wants(this.#head, 'answer') && this.#pendingBytes === 0) {
      this.#parser = undefined
      this.#write(bytes)
      return this.#observer.chunk(bytes, moment)
    }
    if (!this.#parser) {
      const start = this.#atBoundary() ? 0 : firstBoundary(this.#tail, bytes)
      if (start > 0) {
        this.#write(bytes.subarray(0, start))
        this.#observer.chunk(bytes.subarray(0, start), moment)
      }
      if (start === bytes.length && !this.#atBoundary()) return
      this.#parser = new SseParser()
      this.#parsedBytes = 0
      if (start < bytes.length) this.#takeEvents(bytes.subarray(start), keeper)
    } else this.#takeEvents(bytes, keeper)
    this.#waitForRoom(keeper)
  }

  /** An event is recorded after the gatekeeper saw it, because the verdict must be known by then. */
  #takeEvents(bytes: Buffer, keeper: Gatekeeper | undefined): void {
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    for (const event of this.#parser!.push(bytes)) {
      const block = this.#takeBlock(event.endOffset - this.#parsedBytes)
      this.#parsedBytes = event.endOffset
      const isMessage = event.data !== undefined && (!event.event || event.event === 'message')
      const taken = isMessage && keeper?.event(this.#head, event.data, this.#passageOf(block))
      if (taken) this.#holding += 1
      else this.#write(block)
      this.#observer.chunk(block, momentNow())
    }
    if (this.#pendingBytes > longestMessage) {
      this.#parser = undefined
      keeper?.unseen(this.#head, 'answer', 'an event of more than 64 MB')
      this.#passPending(momentNow())
    }
  }

  #takeBlock(sizeBytes: number): Buffer {
    const all = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    const rest = all.subarray(sizeBytes)
    this.#pending = rest.length === 0 ? [] : [rest]
    this.#pendingBytes = rest.length
    return all.subarray(0, sizeBytes)
  }

  #passageOf(block: Buffer): EventPassage {
    const settle = (): void => {
      this.#holding -= 1
      if (this.#ended && this.#holding === 0) this.#end()
    }
    return {
      forward: (text) => {
        if (!this.#finished || this.#ended) this.#write(text === undefined ? block : withData(block, text))
        settle()
      },
      drop: settle,
      send: (text) => void this.inject(text),
      disconnect: (why) => this.#options.disconnect(why),
    }
  }

  inject(text: string): boolean {
    if (this.#destination.writableEnded || this.#destination.destroyed) return false
    const bytes = Buffer.from(`event: message\ndata: ${text}\n\n`)
    if (this.#atBoundary() && (this.#pendingBytes === 0 || this.#parser)) this.#write(bytes)
    else this.#waiting.push(() => this.#write(bytes))
    return true
  }

  readonly #onDrain = (): void => {
    this.#blocked = false
    this.#steer()
  }

  readonly #onEnd = (): void => {
    const moment = momentNow()
    this.#finished = true
    this.#ended = true
    this.#source.off('data', this.#onData)
    this.#source.off('end', this.#onEnd)
    if (this.#pendingBytes > 0) this.#passPending(moment)
    if (this.#change) this.#write(this.#change.end())
    if (this.#source.rawTrailers.length > 0) this.#destination.addTrailers(pairsOf(this.#source.rawTrailers))
    this.#observer.ended(moment)
    if (this.#holding === 0) this.#end()
  }

  #end(): void {
    this.#destination.off('drain', this.#onDrain)
    this.#destination.end()
    this.#options.passed()
  }
}

/** Index in `bytes` of the first event; their length if there is none. @param tail the bytes before them */
function firstBoundary(tail: string, bytes: Buffer): number {
  const text = tail + bytes.toString('latin1')
  const found = /\n\n|\r\n\r\n|\r\r/g
  for (let match = found.exec(text); match; match = found.exec(text)) {
    const end = match.index + match[0].length - tail.length
    if (end > 0) return end
  }
  return bytes.length
}

/** The bytes of an event with new data. Its other fields stay. */
function withData(block: Buffer, text: string): Buffer {
  const lines = block.toString('utf8').split(/\r\n|\n|\r/)
  const others = lines.filter((line) => line !== '' && !/^data(:|$)/.test(line))
  return Buffer.from([...others, `data: ${text}`, '', ''].join('\n'))
}
