import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSseParser, type SseParser, longestMessage } from '../../wire/index.js'
import type { BodyChange, BodyFlow, FlowObserver } from './body-flow.js'
import type { EventPassage, ExchangeHead, Gatekeeper } from './gatekeeper.js'
import { pairsOf } from './hop-headers.js'
import { momentNow, type ArrivalTime } from './http-event.js'

/** The answer that is an event stream: chunks pass as they come, or event by event while a gatekeeper wants to see them. */
export interface EventFlow extends BodyFlow {
  /** Sends an event of ours between two others. False when the stream is over. */
  inject(text: string): boolean
}

export interface EventFlowOptions {
  readonly head: ExchangeHead
  readonly change: BodyChange | undefined
  gatekeeper(): Gatekeeper | undefined
  disconnect(why: string): void
  /** Everything was passed on, and the end too. */
  passed(): void
}

export function createEventFlow(
  source: IncomingMessage,
  destination: ServerResponse,
  observer: FlowObserver,
  options: EventFlowOptions,
): EventFlow {
  const { change, head } = options
  let blocked = false
  let held = false
  /** As much is held as may be. */
  let full = false
  let finished = false
  let ended = false
  let holding = 0
  /** Last bytes that were written; between two events they end with a blank line, or there are none. */
  let tail = ''
  let parser: SseParser | undefined
  /** Bytes of the event that is under way, while events are looked at, and where they stand in the parser's stream. */
  let pending: Buffer[] = []
  let pendingBytes = 0
  let parsedBytes = 0
  let waiting: (() => void)[] = []

  const atBoundary = (): boolean => tail === '' || /(\n\n|\r\n\r\n|\r\r)$/.test(tail)

  function write(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    tail = (tail + Buffer.from(bytes.subarray(-4)).toString('latin1')).slice(-4)
    if (!destination.write(bytes)) {
      blocked = true
      steer()
    }
    if (waiting.length > 0 && atBoundary()) {
      const steps = waiting
      waiting = []
      for (const step of steps) step()
    }
  }

  function steer(): void {
    if (finished) return
    if (blocked || held || full) source.pause()
    else source.resume()
  }

  function waitForRoom(keeper: Gatekeeper | undefined): void {
    if (full || !keeper?.mustWait(head, goOn)) return
    full = true
    steer()
  }

  function goOn(): void {
    full = false
    steer()
  }

  function onData(chunk: Buffer): void {
    const moment = momentNow()
    const bytes = change ? change.push(chunk) : chunk
    if (bytes === chunk || bytes.equals(chunk)) return takeBytes(chunk, moment)
    // What is changed on its way is not cut into events: only the first one of a legacy stream is.
    if (pendingBytes > 0) passPending(moment)
    parser = undefined
    const rest = bytes.subarray(firstBoundary(tail, bytes))
    const came = chunk.length - rest.length
    const isWhole = rest.length > 0 && came >= 0 && chunk.subarray(came).equals(rest)
    write(isWhole ? bytes.subarray(0, bytes.length - rest.length) : bytes)
    observer.chunk(isWhole ? chunk.subarray(0, came) : chunk, moment)
    if (isWhole) takeBytes(rest, moment)
  }

  function passPending(moment: ArrivalTime): void {
    const rest = takeBlock(pendingBytes)
    write(rest)
    observer.chunk(rest, moment)
  }

  /** They go on as they came. */
  function takeBytes(bytes: Buffer, moment: ArrivalTime): void {
    const keeper = options.gatekeeper()
    if (!keeper?.wants(head, 'answer') && pendingBytes === 0) {
      parser = undefined
      write(bytes)
      return observer.chunk(bytes, moment)
    }
    if (!parser) {
      const start = atBoundary() ? 0 : firstBoundary(tail, bytes)
      if (start > 0) {
        write(bytes.subarray(0, start))
        observer.chunk(bytes.subarray(0, start), moment)
      }
      if (start === bytes.length && !atBoundary()) return
      parser = createSseParser()
      parsedBytes = 0
      if (start < bytes.length) takeEvents(bytes.subarray(start), keeper)
    } else takeEvents(bytes, keeper)
    waitForRoom(keeper)
  }

  /** Each event is told after it was shown: what is decided about it has to be known by then. */
  function takeEvents(bytes: Buffer, keeper: Gatekeeper | undefined): void {
    pending.push(bytes)
    pendingBytes += bytes.length
    for (const event of parser!.push(bytes)) {
      const block = takeBlock(event.endOffset - parsedBytes)
      parsedBytes = event.endOffset
      const isMessage = event.data !== undefined && (!event.event || event.event === 'message')
      const taken = isMessage && keeper?.event(head, event.data, passageOf(block))
      if (taken) holding += 1
      else write(block)
      observer.chunk(block, momentNow())
    }
    if (pendingBytes > longestMessage) {
      parser = undefined
      keeper?.unseen(head, 'answer', 'an event of more than 64 MB')
      passPending(momentNow())
    }
  }

  function takeBlock(sizeBytes: number): Buffer {
    const all = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
    const rest = all.subarray(sizeBytes)
    pending = rest.length === 0 ? [] : [rest]
    pendingBytes = rest.length
    return all.subarray(0, sizeBytes)
  }

  function passageOf(block: Buffer): EventPassage {
    const settle = (): void => {
      holding -= 1
      if (ended && holding === 0) end()
    }
    return {
      forward(text) {
        if (!finished || ended) write(text === undefined ? block : withData(block, text))
        settle()
      },
      drop: settle,
      send: (text) => void inject(text),
      disconnect: (why) => options.disconnect(why),
    }
  }

  function inject(text: string): boolean {
    if (destination.writableEnded || destination.destroyed) return false
    const bytes = Buffer.from(`event: message\ndata: ${text}\n\n`)
    if (atBoundary() && (pendingBytes === 0 || parser)) write(bytes)
    else waiting.push(() => write(bytes))
    return true
  }

  function onDrain(): void {
    blocked = false
    steer()
  }

  function onEnd(): void {
    const moment = momentNow()
    finished = true
    ended = true
    source.off('data', onData)
    source.off('end', onEnd)
    if (pendingBytes > 0) passPending(moment)
    if (change) write(change.end())
    if (source.rawTrailers.length > 0) destination.addTrailers(pairsOf(source.rawTrailers))
    observer.ended(moment)
    if (holding === 0) end()
  }

  function end(): void {
    destination.off('drain', onDrain)
    destination.end()
    options.passed()
  }

  source.on('data', onData)
  source.on('end', onEnd)
  destination.on('drain', onDrain)
  return {
    inject,
    hasBegun: () => tail !== '' || ended,
    hold(wait) {
      held = wait
      steer()
    },
    stop() {
      if (finished) return
      finished = true
      source.off('data', onData)
      source.off('end', onEnd)
      destination.off('drain', onDrain)
      source.resume()
    },
    salvage() {
      if (finished) return
      source.off('data', onData)
      const left: unknown = source.read()
      if (left instanceof Buffer) onData(left)
    },
  }
}

/** Where in `bytes` the first event begins; their length when none does. @param tail what stood before them */
function firstBoundary(tail: string, bytes: Buffer): number {
  const text = tail + bytes.toString('latin1')
  const found = /\n\n|\r\n\r\n|\r\r/g
  for (let match = found.exec(text); match; match = found.exec(text)) {
    const end = match.index + match[0].length - tail.length
    if (end > 0) return end
  }
  return bytes.length
}

/** The block of an event with other data; its other fields stay. */
function withData(block: Buffer, text: string): Buffer {
  const lines = block.toString('utf8').split(/\r\n|\n|\r/)
  const others = lines.filter((line) => line !== '' && !/^data(:|$)/.test(line))
  return Buffer.from([...others, `data: ${text}`, '', ''].join('\n'))
}
