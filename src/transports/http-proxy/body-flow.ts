import type { IncomingMessage, OutgoingMessage } from 'node:http'
import { momentNow, type ArrivalTime } from './http-event.js'
import { pairsOf } from './hop-headers.js'

/** Changes bytes on their way. */
export interface BodyChange {
  /** What can be passed on now. */
  push(chunk: Buffer): Buffer
  /** What was held back. */
  end(): Buffer
}

/** Sees everything after it was passed on. */
export interface FlowObserver {
  /** As it came, not as it was changed. */
  chunk(bytes: Buffer, moment: ArrivalTime): void
  ended(moment: ArrivalTime): void
}

/** Carries the body of one message to the next hop. Owns neither end, and listens to no errors. */
export interface BodyFlow {
  /** Something was written to the destination, or it was ended. */
  hasBegun(): boolean
  /** Stops reading from the source, for a reason besides a slow destination, or goes on. */
  hold(wait: boolean): void
  /** Carries nothing more. What the source still sends is dropped. */
  stop(): void
  /** Passes on what the source has got and nobody has read, although it broke. */
  salvage(): void
}

/** A slow destination stops the reading, so that the sender is slowed as it would be without us. */
export function createBodyFlow(
  source: IncomingMessage,
  destination: OutgoingMessage,
  observer: FlowObserver,
  change?: BodyChange,
): BodyFlow {
  let blocked = false
  let held = false
  let finished = false
  let begun = false

  function steer(): void {
    if (finished) return
    if (blocked || held) source.pause()
    else source.resume()
  }

  function onData(chunk: Buffer): void {
    const moment = momentNow()
    const bytes = change ? change.push(chunk) : chunk
    if (bytes.length > 0) {
      begun = true
      if (!destination.write(bytes)) {
        blocked = true
        steer()
      }
    }
    observer.chunk(chunk, moment)
  }

  function onDrain(): void {
    blocked = false
    steer()
  }

  function onEnd(): void {
    const moment = momentNow()
    finish()
    begun = true
    const rest = change?.end()
    if (rest && rest.length > 0) destination.write(rest)
    if (source.rawTrailers.length > 0) destination.addTrailers(pairsOf(source.rawTrailers))
    destination.end()
    observer.ended(moment)
  }

  function finish(): void {
    finished = true
    source.off('data', onData)
    source.off('end', onEnd)
    destination.off('drain', onDrain)
  }

  source.on('data', onData)
  source.on('end', onEnd)
  destination.on('drain', onDrain)
  return {
    // No getter: the engine makes a class of its own for each object with one, which only a full collection frees.
    hasBegun: () => begun,
    hold(wait) {
      held = wait
      steer()
    },
    stop() {
      if (finished) return
      finish()
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
