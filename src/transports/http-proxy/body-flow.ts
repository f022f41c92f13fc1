import type { IncomingMessage, OutgoingMessage } from 'node:http'
import { momentNow, type ArrivalTime } from './http-event.js'
import { pairsOf } from './hop-headers.js'

/** Changes the bytes of a body in transit. */
export interface BodyChange {
  /** @returns the bytes that can be forwarded now */
  push(chunk: Buffer): Buffer
  /** @returns the bytes that were held back */
  end(): Buffer
}

/** Sees all bytes after they were forwarded. */
export interface FlowObserver {
  /** The original bytes, before any change. */
  chunk(bytes: Buffer, moment: ArrivalTime): void
  ended(moment: ArrivalTime): void
}

/** Forwards the body of one message. Owns neither end, and does not listen for errors. */
export interface BodyFlow {
  /** Whether anything was written to the destination, or it was ended. */
  hasBegun(): boolean
  /** Stops reading from the source for a reason other than a slow destination, or resumes. */
  hold(wait: boolean): void
  /** Stops for good. Further bytes of the source are dropped. */
  stop(): void
  /** Forwards the bytes that a broken source has buffered and that were not read yet. */
  salvage(): void
}

const nothing = Buffer.alloc(0)
/** A longer first part is written as it is: copying it would cost more than a second piece of the write. */
const joinedBytes = 8 * 1024

/** Sends the head of a message before the first bytes of its body. */
export function flushHead(message: OutgoingMessage, flow: BodyFlow): void {
  // Not flushHeaders(), which sends values that are not ASCII as UTF-8.
  if (!flow.hasBegun()) message.write(nothing)
}

/** Node joins a text with the head: one piece of one write. Latin-1 keeps every byte. */
function writeFirst(destination: OutgoingMessage, bytes: Buffer): boolean {
  if (bytes.length > joinedBytes) return destination.write(bytes)
  return destination.write(bytes.toString('latin1'), 'latin1')
}

/**
 * A slow destination stops the reading, so that the sender is slowed down as without us. A body is never held between its
 * last byte and its end: the receiver already has all of it, and its reply may come.
 */
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
    const isRead = source.complete && source.readableLength === 0
    if (blocked || (held && !isRead)) source.pause()
    else source.resume()
  }

  function onData(chunk: Buffer): void {
    const moment = momentNow()
    const bytes = change ? change.push(chunk) : chunk
    if (bytes.length > 0) {
      const isWritten = begun ? destination.write(bytes) : writeFirst(destination, bytes)
      begun = true
      if (!isWritten) {
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
    // Not a getter: V8 makes a hidden class for each object with one, which only a full collection frees.
    hasBegun: () => begun,
    hold(wait) {
      held = wait
      steer()
      // While bytes are passing, it is not known yet that they are the last.
      if (wait) setImmediate(steer)
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
