import type { SseContext } from '../model/index.js'
import { bytesOf, matches } from '../wire/index.js'

const named: SseContext = { event: 'message' }
const nameless: SseContext = {}
const LF = 0x0a
const CR = 0x0d

/** Bytes that servers write before the data of a message, each with the event's context. */
const starts = [
  { bytes: bytesOf('event: message\ndata: {'), sse: named },
  { bytes: bytesOf('event: message\r\ndata: {'), sse: named },
  { bytes: bytesOf('data: {'), sse: nameless },
]

/** The part of a stream that is one event with one line of data, as most parts are. Reused for each one. */
export class PlainEvent {
  /** The data in the bytes. Whether it has line breaks is not checked. */
  start = 0
  end = 0
  sse = nameless

  /** False for anything else. */
  read(bytes: Uint8Array): boolean {
    const last = bytes.length - 1
    if (bytes[last] !== LF) return false
    if (bytes[last - 1] === LF) this.end = last - 1
    else if (bytes[last - 1] === CR && bytes[last - 2] === LF && bytes[last - 3] === CR) this.end = last - 3
    else return false
    for (const { bytes: start, sse } of starts) {
      if (!matches(bytes, 0, start)) continue
      this.start = start.length - 1
      this.sse = sse
      return this.start < this.end
    }
    return false
  }
}
