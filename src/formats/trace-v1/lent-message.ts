import {
  noTime,
  type Direction,
  type Draft,
  type Envelope,
  type MessageRecord,
  type Part,
} from '../../model/index.js'
import { createByteTexts, numberAt } from '../../wire/index.js'
import { openPayloadAt } from './entry-bytes.js'
import { PlainLine } from './plain-line.js'
import type { PlainLines } from './plain-lines.js'

/**
 * A message whose text is bytes that its reader lent: valid until the next record is requested. `ownRecord` keeps it
 * longer. Its part ends at an upper bound of the text's length.
 */
export class LentMessage implements MessageRecord {
  readonly type = 'message'
  direction: Direction
  readonly batch = false
  readonly seq?: number
  readonly us?: number
  readonly conversation?: string
  declare untimed?: true
  /** Some JSON readers may refuse the text. */
  readonly #unusual: boolean
  readonly #bytes: Uint8Array
  readonly #rawStart: number
  readonly #rawEnd: number
  /** The line's number in `#lines`. */
  readonly #number: number
  readonly #lines: PlainLines | undefined
  readonly #encoded: Uint8Array | undefined
  readonly #isEntry: boolean
  /** In `#encoded`, the end of the first part of an open entry; otherwise -1. */
  readonly #openEnd: number
  /** Read on request if it is an entry. */
  #parts: readonly Part[] | undefined
  readonly #timeStart: number
  readonly #timeEnd: number
  /** The decoded time, if it was requested or set. */
  #t: string | undefined

  /** @param lines which `line` was read from last, if a thread found them */
  constructor(bytes: Uint8Array, line: PlainLine, lines?: PlainLines) {
    const encoded = line.encodedStart >= 0 ? lines?.encoded : undefined
    this.#bytes = bytes
    this.#rawStart = line.rawStart
    this.#rawEnd = line.rawEnd
    this.#lines = lines
    this.#number = lines?.last ?? -1
    this.#timeStart = line.timeStart
    this.#timeEnd = line.timeEnd
    this.#t = line.timeStart < 0 ? noTime : undefined
    this.direction = line.fromServer ? 'server_to_client' : 'client_to_server'
    this.#encoded = encoded?.subarray(line.encodedStart, line.encodedEnd)
    const isEntry = encoded !== undefined && line.isEntry
    this.#openEnd = isEntry && line.openEnd >= 0 ? line.openEnd - line.encodedStart : -1
    this.#isEntry = isEntry && line.openEnd < 0
    this.#parts = this.#isEntry ? undefined : [partOf(bytes, line)]
    if (line.seq >= 0) this.seq = line.seq
    if (line.us >= 0) this.us = line.us
    if (line.conversationStart >= 0)
      this.conversation = texts.at(bytes, line.conversationStart, line.conversationEnd)
    this.#unusual = line.unusual
  }

  get utf8(): Uint8Array {
    return this.#bytes.subarray(this.#rawStart, this.#rawEnd)
  }

  /** The bytes in the form that the output needs, if a thread prepared it. */
  get encoded(): Uint8Array | undefined {
    if (this.#openEnd >= 0) return this.#encoded!.subarray(this.#openEnd + openPayloadAt)
    return this.#isEntry ? undefined : this.#encoded
  }

  /** The two parts of an open entry for a session file: before and after the id of the request. */
  get openEntry(): readonly [Uint8Array, Uint8Array] | undefined {
    const [bytes, end] = [this.#encoded, this.#openEnd]
    return end < 0 ? undefined : [bytes!.subarray(0, end), bytes!.subarray(end)]
  }

  /** The whole entry for a session file, if a thread prepared it (`EntryForm`). */
  get sessionEntry(): Uint8Array | undefined {
    return this.#isEntry ? this.#encoded : undefined
  }

  get parts(): readonly Part[] {
    if (!this.#parts) {
      this.#lines!.readAgain(this.#number, again)
      this.#parts = [partOf(this.#bytes, again)]
    }
    return this.#parts
  }

  get t(): string {
    return (this.#t ??= asciiAt(this.#bytes, this.#timeStart, this.#timeEnd))
  }

  set t(value: string) {
    this.#t = value
  }

  /** Upper bound. */
  get timeLength(): number {
    return this.#t === undefined ? this.#timeEnd - this.#timeStart : this.#t.length
  }

  /**
   * Copies the time, if it consists of digits, letters and signs of usual times.
   *
   * @returns its end; -1 if it must be taken from `t`
   */
  putTime(target: Uint8Array, at: number): number {
    if (this.#t !== undefined) return -1
    let to = at
    for (let from = this.#timeStart; from < this.#timeEnd; from += 1, to += 1) {
      const byte = this.#bytes[from]!
      const isDigit = byte >= 0x30 && byte <= 0x39
      if (
        !isDigit &&
        (to === at || !(byte === 0x2d || byte === 0x2e || byte === 0x3a || byte === T || byte === Z))
      )
        return -1
      target[to] = byte
    }
    return to
  }

  /** Whether the time is this one, in the form of tapes. @param second `2026-11-21T01:33:10.` */
  isTime(second: string, ms: number): boolean {
    const [bytes, start, end] = [this.#bytes, this.#timeStart, this.#timeEnd]
    if (this.#t !== undefined || end - start !== second.length + 4 || bytes[end - 1] !== Z) return false
    for (let i = 0; i < second.length; i += 1) if (bytes[start + i] !== second.charCodeAt(i)) return false
    return numberAt(bytes, end - 4, end - 1) === ms && areDigits(bytes, end - 4, end - 1)
  }

  get raw(): string {
    return utf8.decode(this.utf8)
  }

  get isUnusual(): boolean {
    return this.#unusual
  }
}

/** Whether the line has all data of its message in the places of a plain line. */
export function canLend({ redacted, http, sse, frameEnd }: PlainLine): boolean {
  return !redacted && !http && !sse && !frameEnd
}

/** The record, or a copy that stays valid. */
export function ownRecord(record: MessageRecord): MessageRecord {
  if (!(record instanceof LentMessage)) return record
  const { raw, parts, ...others } = record
  return { ...others, t: record.t, raw, parts: parts.map((part) => ({ ...part, end: raw.length })) }
}

const [T, Z] = [0x54, 0x5a]
const texts = createByteTexts()
/** Responses name the ids of recent requests. */
const ids = createByteTexts()
const again = new PlainLine()
const ascii = new TextDecoder('latin1')
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** Longer texts are decoded faster by the engine's decoder. */
const shortText = 12

function areDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at]! < 0x30 || bytes[at]! > 0x39) return false
  return true
}

/** ASCII only. */
function asciiAt(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > shortText) return ascii.decode(bytes.subarray(start, end))
  let text = ''
  let at = start
  for (; at + 4 <= end; at += 4)
    text += String.fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!)
  for (; at < end; at += 1) text += String.fromCharCode(bytes[at]!)
  return text
}

/** @param isNamed other messages will name it */
function idAt(bytes: Uint8Array, start: number, end: number, isNamed: boolean): string {
  return isNamed ? ids.at(bytes, start, end) : asciiAt(bytes, start, end)
}

/** A class has room for the members that are added; a literal would need further memory for each message. */
class LentPart {
  readonly envelope: Envelope
  readonly start = 0
  readonly end: number
  readonly sizeBytes: number

  constructor(envelope: Envelope, sizeBytes: number) {
    this.envelope = envelope
    this.end = sizeBytes
    this.sizeBytes = sizeBytes
  }
}

/** As `LentPart`. */
class LentEnvelope {
  readonly kind: Envelope['kind']

  constructor(kind: Envelope['kind']) {
    this.kind = kind
  }
}

function partOf(bytes: Uint8Array, line: PlainLine): Draft<Part> {
  const part: Draft<Part> = new LentPart(envelopeOf(bytes, line), line.rawEnd - line.rawStart)
  if (line.idStart >= 0) part.id = idAt(bytes, line.idStart, line.idEnd, line.kind === 'request')
  if (line.corrStart >= 0) part.correlatedId = ids.at(bytes, line.corrStart, line.corrEnd)
  if (line.late) part.late = true
  return part
}

/** Without the parts that only links to other messages than responses need, for a line that `isTelling`. */
function envelopeOf(bytes: Uint8Array, line: PlainLine): Envelope {
  const envelope: Draft<Envelope> = new LentEnvelope(line.kind)
  if (line.rpcIdStart >= 0) envelope.id = asciiAt(bytes, line.rpcIdStart, line.rpcIdEnd)
  if (line.methodStart >= 0) envelope.method = texts.at(bytes, line.methodStart, line.methodEnd)
  if (line.subjectStart >= 0) envelope.subject = texts.at(bytes, line.subjectStart, line.subjectEnd)
  if (line.tokenStart >= 0 && line.kind === 'request')
    envelope.progressToken = asciiAt(bytes, line.tokenStart, line.tokenEnd)
  if (line.toolError) envelope.toolError = true
  if (line.codeStart >= 0) envelope.errorCode = texts.at(bytes, line.codeStart, line.codeEnd)
  if (line.messageStart >= 0) envelope.errorMessage = texts.at(bytes, line.messageStart, line.messageEnd)
  return envelope
}
