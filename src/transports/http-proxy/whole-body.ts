import type { IncomingMessage } from 'node:http'
import { isIdentity } from '../content-coding.js'
import { momentNow, type ArrivalTime } from './http-event.js'
import type { ReadingRoom } from './reading-room.js'
import { longestMessage } from '../../wire/index.js'

const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** Gets a body as it arrives, then whole. */
export interface BodyReader {
  readonly room: ReadingRoom
  /** Whether reading must stop. If so, `goOn` is called when it may continue. */
  mustWait(goOn: () => void): boolean
  chunk(bytes: Buffer, moment: ArrivalTime): void
  whole(bytes: Buffer, moment: ArrivalTime): void
  /**
   * The body is not kept: it does not begin like a message, or is too long. Gets the bytes so far; the rest is still in
   * the source.
   *
   * @param why reason, when the body could still be a message
   */
  passOn(chunks: readonly Buffer[], why?: string): void
}

export interface WholeBody {
  /** Stops reading, or resumes. */
  hold(wait: boolean): void
  /** The body is no longer needed. */
  stop(): void
}

/** Reads a body that may be a message to its end. */
export function collectBody(source: IncomingMessage, reader: BodyReader): WholeBody {
  /** The contents of an encoded body are known only at its end. */
  let mayBeMessage = !isPlain(source)
  const chunks: Buffer[] = []
  let sizeBytes = 0
  let ended = false
  let done = false
  let held = false
  let full = false
  const reading = reader.room.enter(steer)

  function steer(): void {
    if (done) return
    full ||= reader.mustWait(goOn)
    if (ended && !held && !full) complete()
    else if (held || full || reading.mustWait()) source.pause()
    else source.resume()
  }
  function goOn(): void {
    full = false
    steer()
  }
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    sizeBytes += chunk.length
    reading.took(chunk.length)
    reader.chunk(chunk, momentNow())
    const first = mayBeMessage ? undefined : firstOf(chunk)
    mayBeMessage ||= first === OPEN_OBJECT || first === OPEN_ARRAY
    if (!mayBeMessage && first !== undefined) {
      finish()
      reader.passOn(chunks)
    } else if (sizeBytes > longestMessage) {
      finish()
      reader.passOn(chunks, 'a body of more than 64 MB')
    } else steer()
  }
  const onEnd = (): void => {
    ended = true
    steer()
  }
  /** `finish` comes last: bodies that wait for memory try again after this one has been handed over. */
  function complete(): void {
    done = true
    reader.whole(Buffer.concat(chunks), momentNow())
    finish()
  }
  function finish(): void {
    done = true
    source.off('data', onData)
    source.off('end', onEnd)
    reading.leave()
  }
  source.on('data', onData)
  source.on('end', onEnd)
  steer()
  return {
    hold(wait) {
      held = wait
      steer()
    },
    stop() {
      if (!done) finish()
    },
  }
}

/** The first byte that is not white space. */
function firstOf(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => byte !== 0x20 && (byte < 0x09 || byte > 0x0d))
}

export function hasBody({ headers, statusCode }: IncomingMessage): boolean {
  if (statusCode === 204 || statusCode === 304) return false
  if (headers['transfer-encoding'] !== undefined) return true
  // A response without either header ends with its connection.
  const { 'content-length': length = statusCode === null || statusCode === undefined ? '0' : '' } = headers
  return length !== '0'
}

/** Whether the body has no content coding. */
function isPlain({ headers }: IncomingMessage): boolean {
  return isIdentity(headers['content-encoding'])
}

export function isJson(message: IncomingMessage): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(message.headers['content-type'] ?? '')
}

/** An event stream, possibly with a content coding. */
function isEvents(came: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(came.headers['content-type'] ?? '')
}

/**
 * An event stream that can be forwarded event by event: without a content coding, and without a length, unless its
 * events are inspected and the length is removed.
 */
export function hasEvents(came: IncomingMessage, areWanted: boolean): boolean {
  return isEvents(came) && isPlain(came) && (areWanted || came.headers['content-length'] === undefined)
}

const jsonTexts = /^application\/(?:[\w.-]*(?:ndjson|jsonl|json-?lines|json-seq|json-stream)|stream\+json)\b/i

/** A body that may never end: events, or a sequence of JSON texts. */
export function isStream(came: IncomingMessage): boolean {
  return isEvents(came) || jsonTexts.test(came.headers['content-type'] ?? '')
}

/** The reason why the events of a stream cannot be inspected. */
export function whyUnseen(came: IncomingMessage): string {
  const coding = came.headers['content-encoding']
  if (coding === undefined && !isEvents(came)) return 'a stream of JSON texts'
  return coding === undefined
    ? 'an event stream with a Content-Length that started earlier'
    : `a body in the content coding ${coding}`
}

/** @param name in lower case */
export function withoutHeader(headers: readonly string[], name: string): string[] {
  const kept: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (headers[n]!.toLowerCase() !== name) kept.push(headers[n]!, headers[n + 1]!)
  }
  return kept
}
